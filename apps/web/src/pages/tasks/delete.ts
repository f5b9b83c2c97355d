import { html } from '../../html.ts';
import { renderNotFound } from '../../http/errors.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import type { Page, PageResponse } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { describeOutcomes, readIds } from './changes.ts';

/** Asks before one task is deleted. */
export const confirmDeletion = (context: UserPageContext): Promise<Page> => askAbout(context, [readId(context)]);

/** Asks before the selected tasks are deleted. */
export const confirmDeletions = (context: UserPageContext): Promise<Page> =>
  askAbout(context, readIds((readQuery(context.request).ids ?? '').split(',')));

async function askAbout(context: UserPageContext, ids: number[]): Promise<Page> {
  const { actions, session, csrfField } = context;
  const { tasks: texts } = context.texts;
  const { tasks } = ids.length === 0 ? { tasks: [] } : unwrap(await actions.getTaskNames(session, { ids }));
  const [first] = tasks;
  if (!first) return renderNotFound(context);
  const isOne = tasks.length === 1;
  const back = isOne ? { href: `/tasks/${first.id}`, text: first.name } : { href: '/tasks', text: texts.title };
  return {
    title: isOne ? texts.deleteTask(first.name) : texts.deleteTasks(tasks.length),
    breadcrumb: back,
    body: html`<form class="panel gap narrow" method="post" action="/tasks/delete">${csrfField}
${tasks.map(({ id }) => html`<input type="hidden" name="id" value="${id}">`)}
<p>${texts.deleteText(tasks.length)}</p>
<ul>${tasks.map(({ name, executionCount }) => html`<li><b>${name}</b>, ${texts.runs(executionCount)}</li>`)}</ul>
<p>${texts.deleteRunning}</p>
<div class="do"><button class="danger">${isOne ? texts.deleteOne : texts.deleteTasks(tasks.length)}</button><a class="button quiet" href="${back.href}">${context.texts.forms.cancel}</a></div>
</form>`,
  };
}

export async function deleteChosen(context: UserPageContext): Promise<PageResponse> {
  const ids = readIds(readForm(context.request).list('id'));
  if (ids.length === 0) return { to: '/tasks', notice: { kind: 'warn', text: context.texts.tasks.noneSelected } };
  const outcomes = unwrap(await context.actions.deleteTasks(context.session, { ids }));
  return { to: '/tasks', notice: describeOutcomes(context.texts, outcomes, 'deleted') };
}
