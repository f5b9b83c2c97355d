import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { EMPTY, html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import type { Download, Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { renderConfirmation } from './confirmation.ts';

const renderExport = ({ csrfField, texts }: UserPageContext, errors: FormErrors): Page => ({
  title: texts.settings.exportTitle,
  breadcrumb: { href: '/settings/data', text: texts.settings.title },
  subtitle: texts.settings.exportText,
  body: html`<form class="panel gap narrow" method="post" action="/settings/export">${csrfField}
${errors.form === null ? EMPTY : renderFormError(errors, texts)}
<p>${texts.settings.exportLimits((text) => html`<a href="/files">${text}</a>`)}</p>
${renderConfirmation(errors, texts)}
<div class="do"><button class="primary">${texts.settings.exportTitle}</button><a class="button quiet" href="/settings/data">${texts.forms.cancel}</a></div>
</form>`,
});

export const showExport = (context: UserPageContext): Page => renderExport(context, NO_ERRORS);

export async function exportAccount(context: UserPageContext): Promise<Page | Download> {
  const currentPassword = readForm(context.request).optional('currentPassword');
  const confirmation = currentPassword === undefined ? {} : { currentPassword };
  const result = await context.actions.startExport(context.session, confirmation);
  if (!result.success)
    return { ...renderExport(context, toFormErrors(result, context.texts)), status: toStatus(result) };
  const day = context.now.toISOString().slice(0, 10);
  return { fileName: `carillon-${day}.json`, type: 'application/json', content: write(context, result.data) };
}

/** The file in pieces, so that only some rows are in memory at a time. */
async function* write({ actions, session }: UserPageContext, started: WebActionData<'startExport'>) {
  const { parts, ...head } = started;
  yield JSON.stringify(head).slice(0, -1);
  for (const part of parts) {
    yield `,\n${JSON.stringify(part)}:[`;
    let separator = '';
    for (let after: string | null | undefined; after !== null; ) {
      const page = unwrap(await actions.readExport(session, { part, ...(after !== undefined && { after }) }));
      for (const row of page.rows) {
        yield `${separator}\n${JSON.stringify(row)}`;
        separator = ',';
      }
      after = page.after;
    }
    yield ']';
  }
  yield '}\n';
}
