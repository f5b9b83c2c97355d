import { countWords } from '../../components/format.ts';
import { html } from '../../html.ts';
import { renderNotFound } from '../../http/errors.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import type { Page, PageResponse } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { describeOutcomes, readIds } from './changes.ts';

const readId = ({ request }: UserPageContext) => readIds([(request.params as { id: string }).id]);

/** Asks before one task is deleted. */
export const confirmDeletion = (context: UserPageContext): Promise<Page> => askAbout(context, readId(context));

/** Asks before the chosen tasks are deleted. */
export const confirmDeletions = (context: UserPageContext): Promise<Page> =>
  askAbout(context, readIds((readQuery(context.request).ids ?? '').split(',')));

async function askAbout(context: UserPageContext, ids: number[]): Promise<Page> {
  const { actions, session, csrfField } = context;
  const { tasks } = ids.length === 0 ? { tasks: [] } : unwrap(await actions.getTaskNames(session, { ids }));
  const [first] = tasks;
  if (!first) return renderNotFound(context);
  const isOne = tasks.length === 1;
  const back = isOne ? { href: `/tasks/${first.id}`, text: first.name } : { href: '/tasks', text: 'Tasks' };
  return {
    title: isOne ? `Delete ${first.name}` : `Delete ${countWords(tasks.length, 'task')}`,
    breadcrumb: back,
    body: html`<form class="panel gap narrow" method="post" action="/tasks/delete">${csrfField}
${tasks.map(({ id }) => html`<input type="hidden" name="id" value="${id}">`)}
<p>${isOne ? 'This task is' : 'These tasks are'} deleted with all runs and answers:</p>
<ul>${tasks.map(({ name, executionCount }) => html`<li><b>${name}</b>, ${countWords(executionCount, 'run')}</li>`)}</ul>
<p>A run under way is stopped: its answer is lost, its tokens still count. Deleting cannot be undone.</p>
<div class="do"><button class="danger">Delete ${isOne ? 'task' : countWords(tasks.length, 'task')}</button><a class="button quiet" href="${back.href}">Cancel</a></div>
</form>`,
  };
}

export async function deleteChosen(context: UserPageContext): Promise<PageResponse> {
  const ids = readIds(readForm(context.request).list('id'));
  if (ids.length === 0) return { to: '/tasks', notice: { kind: 'warn', text: 'No task was chosen.' } };
  const outcomes = unwrap(await context.actions.deleteTasks(context.session, { ids }));
  return { to: '/tasks', notice: describeOutcomes(outcomes, 'deleted') };
}
