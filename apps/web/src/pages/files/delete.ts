import { NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { type Page, type Redirect, redirect } from '../../page.ts';
import { describeKind, findFile, renderTasks, type StoredFile } from './file.ts';

export const askToDelete = async (context: UserPageContext): Promise<Page> =>
  renderQuestion(context, await findFile(context), NO_ERRORS);

function renderQuestion({ csrfField, texts }: UserPageContext, file: StoredFile, errors = NO_ERRORS): Page {
  const { files, formats } = texts;
  const { id, name, size, tasks } = file;
  const use =
    tasks.length > 0
      ? html`<p><b>${files.attachedTo(renderTasks(texts, file))}</b> ${files.breaksRuns(tasks.length)}</p>`
      : html`<p>${files.notAttached}</p>`;
  return {
    title: files.deleteTitle,
    breadcrumb: { href: '/files', text: files.title },
    body: html`${renderFormError(errors, texts)}<div class="panel gap"><p class="lead">${name}, ${describeKind(texts, file)}, ${formats.bytes(size)}</p>
${use}<p>${files.cannotUndo}</p>
<form class="do" method="post" action="/files/${id}/delete">${csrfField}<button class="danger">${files.deleteFile}</button><a class="button" href="/files">${texts.forms.cancel}</a></form></div>`,
  };
}

export async function deleteFile(context: UserPageContext): Promise<Page | Redirect> {
  const { id } = context.request.params as { id: string };
  const result = await context.actions.deleteFile(context.session, { id });
  if (result.success) {
    const { name, tasks } = result.data;
    return redirect('/files', context.texts.files.deleted(name, tasks.length));
  }
  const errors = toFormErrors(result, context.texts);
  return { ...renderQuestion(context, await findFile(context), errors), status: toStatus(result) };
}
