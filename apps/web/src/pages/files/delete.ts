import { NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { countWords, formatBytes } from '../../components/format.ts';
import { html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { type Page, type Redirect, redirect } from '../../page.ts';
import { describeKind, findFile, renderTasks, type StoredFile } from './file.ts';

export const askToDelete = async (context: UserPageContext): Promise<Page> =>
  renderQuestion(context, await findFile(context), NO_ERRORS);

function renderQuestion({ csrfField, texts }: UserPageContext, file: StoredFile, errors = NO_ERRORS): Page {
  const { id, name, size, tasks, hasMoreTasks } = file;
  const use =
    tasks.length > 0
      ? html`<p><b>It is attached to ${renderTasks(tasks, hasMoreTasks)}.</b> ${tasks.length === 1 ? 'Its next run fails until you change its attachments.' : 'Their next runs fail until you change their attachments.'}</p>`
      : html`<p>No task has it attached.</p>`;
  return {
    title: 'Delete this file?',
    breadcrumb: { href: '/files', text: 'Files' },
    body: html`${renderFormError(errors, texts)}<div class="panel gap"><p class="lead">${name}, ${describeKind(file)}, ${formatBytes(size)}</p>
${use}<p>It cannot be brought back.</p>
<form class="do" method="post" action="/files/${id}/delete">${csrfField}<button class="danger">Delete file</button><a class="button" href="/files">Keep it</a></form></div>`,
  };
}

export async function deleteFile(context: UserPageContext): Promise<Page | Redirect> {
  const { id } = context.request.params as { id: string };
  const result = await context.actions.deleteFile(context.session, { id });
  if (result.success) {
    const { name, tasks } = result.data;
    const rest = tasks.length > 0 ? ` ${countWords(tasks.length, 'task')} had it attached.` : '';
    return redirect('/files', `${name} is deleted.${rest}`);
  }
  const errors = toFormErrors(result, context.texts);
  return { ...renderQuestion(context, await findFile(context), errors), status: toStatus(result) };
}
