import { translateApiMessage } from '@carillon/texts';
import { toFormErrors } from '../../../components/fields.ts';
import { renderIcon } from '../../../components/status-icon.ts';
import { type Html, html } from '../../../html.ts';
import { readForm } from '../../../http/forms.ts';
import type { UserPageContext } from '../../../page.ts';
import { type FormValues, readFormValues } from '../form-values.ts';
import { nameFields } from '../problems.ts';
import { fillSources } from '../template/blanks.ts';
import { toSources } from './source-values.ts';

/** What the model will read of each source, or why it cannot be read. */
export async function renderLook(
  { actions, session, texts }: UserPageContext,
  values: Pick<FormValues, 'sources' | 'blanks'>,
): Promise<Html> {
  const { taskForm, formats } = texts;
  const sources = toSources(fillSources(values));
  if (sources.length === 0) return html`<p class="muted">${taskForm.enterSource}</p>`;
  const result = await actions.previewSources(session, { sources });
  if (!result.success) {
    const { fields, form } = toFormErrors(result, texts);
    const messages = form === null ? Object.values(nameFields(fields, texts)).flat() : [form];
    return html`<div class="notice" role="alert">${renderIcon('failed')}<p>${messages.join('. ')}</p></div>`;
  }
  return html`${result.data.sources.map(({ name, ok, title, text, bytes, message }) =>
    ok
      ? html`<section class="gap" aria-labelledby="look-${name}"><div class="head"><h3 id="look-${name}">${title ?? name}</h3><p class="muted">${formats.bytes(bytes ?? 0)}</p></div>
<pre class="looked" tabindex="0" role="group" aria-labelledby="look-${name}">${text}</pre>
<p class="hint">${taskForm.sourceInPrompt(html`<code>{{source.${name}}}</code>`)}</p></section>`
      : html`<section class="gap" aria-labelledby="look-${name}"><h3 id="look-${name}">${name}</h3><div class="notice">${renderIcon('failed')}<p>${translateApiMessage(message ?? '', texts)}</p></div></section>`,
  )}`;
}

/** The same while the form is filled in. */
export const showLook = (context: UserPageContext): Promise<Html> =>
  renderLook(context, readFormValues(readForm(context.request)));
