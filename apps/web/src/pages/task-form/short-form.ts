import { NO_ERRORS } from '../../components/fields.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderAttempt, renderScriptTexts } from './attempt.ts';
import { createFormValues } from './form-values.ts';
import { renderPromptField, renderProviderNotice } from './prompt.ts';
import { renderRecurrence } from './schedule/fields.ts';
import { openForm } from './show.ts';

/** The two fields that a new task needs. Everything else has its default. */
export async function renderShortForm(context: UserPageContext): Promise<Html> {
  const { csrfField, timeZone, now, texts } = context;
  const { taskForm, schedule } = texts;
  const formData = await openForm(context, null);
  const values = createFormValues(timeZone, now, '');
  return html`${renderProviderNotice(context, formData)}<form class="panel gap schedule" id="first-task" method="post" action="/tasks/new"${renderScriptTexts(texts)} data-fresh>${csrfField}${renderAttempt()}
<input type="hidden" name="short" value="on"><input type="hidden" name="timezone" value="${timeZone}">
${renderPromptField({ prompt: '', rows: 5, errors: NO_ERRORS, texts })}
${renderRecurrence(values, NO_ERRORS, texts)}
<p class="muted">${schedule.zoneTime(formatZone(timeZone))}</p>
<div class="do"><button class="primary" name="action" value="run">${taskForm.saveAndTry}</button><button name="action" value="save">${taskForm.saveOnly}</button><button class="quiet" name="action" value="preview" formnovalidate>${taskForm.allSettings}</button></div>
</form>`;
}
