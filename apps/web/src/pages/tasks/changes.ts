import { TASK_PAGE_SIZE } from '@carillon/contract/actions/web/task-list';
import { parseId } from '@carillon/contract/validation/formats';
import { type Texts, translateApiMessage } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { renderNotFound } from '../../http/errors.ts';
import { type Form, readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Notice, type PageResponse, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { readAttempt } from '../task-form/attempt.ts';
import { buildListAddress, readListQuery } from './list-query.ts';

type Outcomes = WebActionData<'runTasks'>;

type Past = Parameters<Texts['tasks']['changedOne']>[0];

interface Change {
  past: Past;
  apply(context: UserPageContext, ids: number[], form: Form): ReturnType<UserPageContext['actions']['runTasks']>;
}

const CHANGES: Record<string, Change> = {
  run: {
    past: 'started',
    apply: ({ actions, session }, ids, form) => actions.runTasks(session, { ids, ...readAttempt(form) }),
  },
  pause: {
    past: 'paused',
    apply: ({ actions, session }, ids) => actions.setTaskStatuses(session, { ids, status: 'paused' }),
  },
  resume: {
    past: 'resumed',
    apply: ({ actions, session }, ids) => actions.setTaskStatuses(session, { ids, status: 'active' }),
  },
};

const findChange = (form: Form) => {
  const name = form.text('do');
  return Object.hasOwn(CHANGES, name) ? CHANGES[name] : undefined;
};

/** The ids of ticked boxes, at most as many as a page has. */
export const readIds = (texts: readonly string[]): number[] =>
  [...new Set(texts.map(parseId))].filter((id) => id !== null).slice(0, TASK_PAGE_SIZE);

/** Changes the selected tasks of the list, and shows the same part of the list again. */
export async function changeChosen(context: UserPageContext): Promise<PageResponse> {
  const form = readForm(context.request);
  const back = buildListAddress(readListQuery(context.request));
  const ids = readIds(form.list('id'));
  if (ids.length === 0) return { to: back, notice: { kind: 'warn', text: context.texts.tasks.noneSelected } };
  if (form.text('do') === 'delete') return { to: `/tasks/delete?ids=${ids.join(',')}` };
  const change = findChange(form);
  if (!change) return redirect(back);
  return {
    to: back,
    notice: describeOutcomes(context.texts, unwrap(await change.apply(context, ids, form)), change.past),
  };
}

/** Runs, pauses or resumes one task. */
export async function changeOne(context: UserPageContext): Promise<PageResponse> {
  const id = readId(context);
  if (!(await isOwnTask(context, id))) return renderNotFound(context);
  const back = `/tasks/${id}`;
  const form = readForm(context.request);
  const change = findChange(form);
  if (!change) return redirect(back);
  const { texts } = context;
  const { tasks } = texts;
  const { refused } = unwrap(await change.apply(context, [id], form));
  if (refused[0]) {
    const text = tasks.refusedOne(change.past, toSentence(refused[0].reason, texts));
    return { to: back, notice: { kind: 'warn', text } };
  }
  return redirect(back, tasks.changedOne(change.past));
}

export const isOwnTask = async ({ actions, session }: UserPageContext, id: number): Promise<boolean> =>
  unwrap(await actions.getTaskNames(session, { ids: [id] })).tasks.length > 0;

/** `3 tasks paused, 1 refused: only an active task can be paused.` */
export function describeOutcomes(texts: Texts, { done, refused }: Outcomes, past: Past): Notice {
  const { tasks } = texts;
  if (refused.length === 0) return { kind: 'info', text: tasks.changed(done.length, past) };
  const reasons = [...new Set(refused.map(({ reason }) => reason))];
  const text = tasks.refused(
    done.length,
    refused.length,
    past,
    reasons.map((reason) => toSentence(reason, texts)).join(' '),
  );
  return { kind: 'warn', text };
}

const toSentence = (reason: string, texts: Texts) => `${translateApiMessage(reason, texts).replace(/\.$/, '')}.`;
