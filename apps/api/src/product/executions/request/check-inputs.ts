import { type TaskInput, tasks } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { invalidItem } from '../../../errors.ts';

/** Throws 400 that names the place of a second input of a name, or of a task that is not the caller's. */
export async function checkInputs(ctx: Context, caller: Caller, given: readonly TaskInput[]): Promise<TaskInput[]> {
  if (given.length === 0) return [];
  const again = given.findIndex(({ name }, at) => given.findIndex((other) => other.name === name) < at);
  if (again >= 0) throw invalidItem('inputs', again, 'has a name that another one has');
  const ids = given.map(({ taskId }) => taskId);
  const found = await ctx.db
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), inArray(tasks.id, ids)));
  const unknown = given.findIndex(({ taskId }) => !found.some(({ id }) => id === taskId));
  if (unknown >= 0) throw invalidItem('inputs', unknown, 'is not one of your tasks');
  return given.map(({ taskId, name }) => ({ taskId, name }));
}
