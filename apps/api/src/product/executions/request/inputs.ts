import { toOneLine } from '@carillon/contract/validation/unsafe-values';
import { type TaskInput, tasks } from '@carillon/db';
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { invalidItem } from '../../../errors.ts';
import { fenceText } from '../../../lib/ai/request.ts';
import { selectLatestRuns } from '../../../platform/queries/runs.ts';

/** Throws 400 that names the place of a second input of a name, or of a task that is not the caller's. */
export async function checkInputs(ctx: Context, caller: Caller, given: readonly TaskInput[]): Promise<TaskInput[]> {
  const again = given.findIndex(({ name }, at) => given.findIndex((other) => other.name === name) < at);
  if (again >= 0) throw repeatedInput(again);
  const known = await keepInputs(ctx, caller, given);
  const unknown = given.findIndex((input) => !known.includes(input));
  if (unknown >= 0) throw invalidItem('inputs', unknown, 'is not one of your tasks');
  return given.map(({ taskId, name }) => ({ taskId, name }));
}

export const repeatedInput = (at: number) => invalidItem('inputs', at, 'has a name that another one has');

/** Returns those whose tasks are there. */
export async function keepInputs(ctx: Context, caller: Caller, given: readonly TaskInput[]): Promise<TaskInput[]> {
  if (given.length === 0) return [];
  const ids = given.map(({ taskId }) => taskId);
  const found = await ctx.db
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), inArray(tasks.id, ids)));
  return given.filter(({ taskId }) => found.some(({ id }) => id === taskId));
}

/** How much of each is sent, in characters. */
const MAX_INPUT = 20_000;

/** What a run reads of another task. */
export interface InputText extends TaskInput {
  /** Null if the task is deleted. */
  taskName: string | null;
  /** The output of its last success, or its text; null without one. */
  text: string | null;
}

/** Of the task `s`. */
const LAST_SUCCESS = sql`select x.output, x.result from past_execution(s.last_success_id, s.id) x`;

/** How far back a success is looked for, in runs. */
const MAX_SEARCHED = 200;

/** The same as of an instant: of the task's latest runs, the last that had succeeded by then. */
export const selectLastSuccessBefore = (at: string): SQL => sql`
  select x.output, x.result from (${selectLatestRuns(sql`s.id`, MAX_SEARCHED)}) x
  where x.status = 'completed' and x.completed_at <= ${at}::timestamptz order by x.id desc limit 1`;

/**
 * The inputs of a task with their texts, as `InputText[]`; null without any. Without a text where it may not be read. Plan:
 * tasks and executions by primary key.
 */
export const selectInputs = (inputs: SQL, userId: SQL, mayRead = sql`true`, lastSuccess = LAST_SUCCESS): SQL => sql`
  case when json_array_length(${inputs}) > 0 then (
    select json_agg(json_build_object('taskId', i."taskId", 'name', i.name, 'taskName', s.name,
      'text', left(coalesce(p.output::text, p.result), ${MAX_INPUT})))
    from json_to_recordset(${inputs}) i("taskId" int, name text)
    left join tasks s on s.id = i."taskId" and s.user_id = ${userId}
    left join lateral (${lastSuccess}) p on ${mayRead}
  ) end`;

/** An input that the prompt does not name, after the prompt. */
export function appendInput({ name, taskName, text }: InputText, marker: () => string): string {
  if (taskName === null) return `The task that was read as "${name}" is deleted.`;
  const title = `The last result of the task ${JSON.stringify(toOneLine(taskName))}`;
  return text === null ? `${title}: none yet.` : fenceText(title, text, marker());
}
