import type { WebActionInput } from '@carillon/contract/actions/web/index';
import type { OutputChange } from '@carillon/contract/executions';
import { executions, tasks } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { taskNotFound } from '../../../errors.ts';
import { cutValue } from './compare/change-list.ts';
import { type Answer, compareAnswers } from './compare/compare-answers.ts';
import { findPairs, isObject, type Pair } from './compare/find-pairs.ts';
import { checkWatch, formatPlace, parseWatchPath, placeIn } from './compare/watch-path.ts';

const MAX_VALUES = 100;
/** Of the answer, over all watched paths. */
const MAX_FOUND = 200_000;

/** A watched path that leads nowhere has no value. */
type WatchedValue = { path: string; value?: unknown };

/**
 * Says what the paths lead to in an answer, and how it differs from the last success of the task: `changes` is null without
 * one. Throws 400, 404.
 */
export async function tryWatch(
  ctx: Context,
  caller: Caller,
  { taskId, output = null, text, watch }: WebActionInput<'tryWatch'>,
): Promise<{ values: WatchedValue[]; changes: OutputChange[] | null }> {
  checkWatch(watch);
  const before = taskId === undefined ? null : await readLastAnswer(ctx, caller, taskId);
  const answer = { text: text ?? JSON.stringify(output), output };
  return {
    values: output === null ? [] : findValues(output, watch),
    changes: before && compareAnswers(before, answer, watch),
  };
}

/** The watched values; without a path, the fields of the output. */
function findValues(output: unknown, watch: readonly string[]): WatchedValue[] {
  const whole: Pair = { place: null, from: undefined, to: output };
  const values: WatchedValue[] = [];
  let found = 0;
  const add = (path: string, value?: unknown) => {
    if (values.length < MAX_VALUES && !values.some((known) => known.path === path))
      values.push(value === undefined ? { path } : { path, value: cutValue(value).value });
  };
  if (watch.length === 0) {
    const fields = isObject(output) ? Object.entries(output) : [];
    for (const [name, value] of fields.slice(0, MAX_VALUES)) add(formatPlace(placeIn(null, { name })), value);
  }
  for (const path of watch) {
    const pairs = found > MAX_FOUND ? [] : findPairs(whole, parseWatchPath(path) ?? [], () => found++);
    if (pairs.length === 0) add(path);
    for (const { place, to } of pairs.slice(0, MAX_VALUES)) add(formatPlace(place), to);
  }
  return values;
}

async function readLastAnswer({ db }: Context, caller: Caller, taskId: number): Promise<Answer | null> {
  const [found] = await db
    .select({ id: tasks.id, text: executions.result, output: executions.output })
    .from(tasks)
    .leftJoin(executions, and(eq(executions.id, tasks.lastSuccessId), eq(executions.taskId, tasks.id)))
    .where(and(eq(tasks.id, taskId), eq(tasks.userId, caller.id)));
  if (!found) throw taskNotFound();
  return found.text === null ? null : { text: found.text, output: found.output };
}
