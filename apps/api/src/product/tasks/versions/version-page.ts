import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { getTask } from '../read.ts';
import { getVersion, type RestoredSettings } from './read.ts';

/** A version with the one before it, the task as it is, and the names of what they refer to. Throws 404. */
export async function getVersionPage(ctx: Context, caller: Caller, taskId: number, number: number) {
  const [task, version, before] = await Promise.all([
    getTask(ctx, caller, taskId),
    getVersion(ctx, caller, taskId, number),
    number > 1 ? getVersion(ctx, caller, taskId, number - 1) : null,
  ]);
  const names = await readNames(ctx, caller, [task, version.task, ...(before ? [before.task] : [])]);
  return { task, version, before, names };
}

/** Of files, channels and tasks, by their ids; without those that are lost. */
async function readNames(
  { db }: Context,
  { id: userId }: Caller,
  settings: readonly Pick<RestoredSettings, 'attachments' | 'channels' | 'inputs'>[],
): Promise<Record<string, string>> {
  const list = (ids: readonly (string | number)[]) => `{${[...new Set(ids)].join(',')}}`;
  const files = list(settings.flatMap(({ attachments }) => attachments));
  const channels = list(settings.flatMap((one) => one.channels));
  const tasks = list(settings.flatMap(({ inputs }) => inputs.map(({ taskId }) => taskId)));
  const found = await queryRows<{ id: string; name: string }>(
    db,
    sql`
    select id::text, name from uploads where user_id = ${userId} and id = any(${files}::uuid[])
    union all select id::text, name from endpoints where user_id = ${userId} and id = any(${channels}::uuid[])
    union all select id::text, name from tasks where user_id = ${userId} and id = any(${tasks}::int[])`,
  );
  return Object.fromEntries(found.map(({ id, name }) => [id, name]));
}
