import { type Page, type Redirect, redirect } from '../../answer.ts';
import { NO_ERRORS, renderFormError, toFormErrors, toStatus } from '../../components/fields.ts';
import { countWords, formatBytes } from '../../components/format.ts';
import { html } from '../../html.ts';
import type { SignedInVisit } from '../../visit.ts';
import { describeKind, findFile, renderTasks, type StoredFile } from './file.ts';

export const askToDelete = async (visit: SignedInVisit): Promise<Page> =>
  renderQuestion(visit, await findFile(visit), NO_ERRORS);

function renderQuestion({ csrfField }: SignedInVisit, file: StoredFile, errors = NO_ERRORS): Page {
  const { id, name, size, tasks, hasMoreTasks } = file;
  const use =
    tasks.length > 0
      ? html`<p><b>It is attached to ${renderTasks(tasks, hasMoreTasks)}.</b> ${tasks.length === 1 ? 'Its next run fails until you change its attachments.' : 'Their next runs fail until you change their attachments.'}</p>`
      : html`<p>No task has it attached.</p>`;
  return {
    title: 'Delete this file?',
    crumb: { href: '/files', text: 'Files' },
    body: html`${renderFormError(errors)}<div class="panel gap"><p class="lead">${name}, ${describeKind(file)}, ${formatBytes(size)}</p>
${use}<p>It cannot be brought back.</p>
<form class="do" method="post" action="/files/${id}/delete">${csrfField}<button class="danger">Delete file</button><a class="button" href="/files">Keep it</a></form></div>`,
  };
}

export async function deleteFile(visit: SignedInVisit): Promise<Page | Redirect> {
  const { id } = visit.request.params as { id: string };
  const result = await visit.actions.deleteFile(visit.session, { id });
  if (result.success) {
    const { name, tasks } = result.data;
    const rest = tasks.length > 0 ? ` ${countWords(tasks.length, 'task')} had it attached.` : '';
    return redirect('/files', `${name} is deleted.${rest}`);
  }
  const errors = toFormErrors(result);
  return { ...renderQuestion(visit, await findFile(visit), errors), status: toStatus(result) };
}
