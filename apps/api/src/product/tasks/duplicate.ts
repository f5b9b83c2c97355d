import { tasks, uploads } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { taskNotFound } from '../../errors.ts';
import { inTransaction } from '../../transaction.ts';
import { lockChannels } from '../deliveries/channels/check-channels.ts';
import { checkTools } from '../executions/request/check-tools.ts';
import { keepInputs } from '../executions/request/inputs.ts';
import { nextRun } from '../schedule/next-run.ts';
import { reserveActiveTask } from './active-quota.ts';
import type { TaskRow } from './read.ts';
import { settingColumns } from './settings.ts';
import { insertTask } from './write.ts';

const MAX_NAME_CODE_POINTS = 100;
const SUFFIX = ' (copy)';

/**
 * The copy of an active task continues with its next future run, unless it is to be paused; any other copy is paused. Throws
 * 400, 402, 404.
 */
export function duplicateTask(
  ctx: Context,
  caller: Caller,
  taskId: number,
  { name, isPaused = false }: { name?: string; isPaused?: boolean } = {},
): Promise<TaskRow> {
  return inTransaction(ctx, async (tx) => {
    const [original] = await tx.db
      .select({ settings: settingColumns, status: tasks.status })
      .from(tasks)
      .where(and(eq(tasks.id, taskId), eq(tasks.userId, caller.id)));
    if (!original) throw taskNotFound();

    const { settings } = original;
    await checkTools(tx, settings);
    const channels = await lockChannels(tx, caller, settings.channels);
    const nextExecutionAt = original.status === 'active' && !isPaused ? nextRun(settings, tx.now()) : null;
    if (nextExecutionAt !== null) await reserveActiveTask(tx, caller);
    return insertTask(tx, caller, {
      ...settings,
      externalId: '',
      name: name ?? nameCopy(settings.name),
      channels,
      attachments: await lockAttachments(tx, caller, settings.attachments),
      inputs: await keepInputs(tx, caller, settings.inputs),
      nextExecutionAt,
      status: nextExecutionAt === null ? 'paused' : 'active',
    });
  });
}

function nameCopy(name: string): string {
  const start = [...name].slice(0, MAX_NAME_CODE_POINTS - SUFFIX.length).join('');
  return `${start.trimEnd()}${SUFFIX}`;
}

/** Returns the ids of existing files, locked against deletion. */
async function lockAttachments(ctx: Context, caller: Caller, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const found = await ctx.db
    .select({ id: uploads.id })
    .from(uploads)
    .where(and(eq(uploads.userId, caller.id), inArray(uploads.id, [...ids])))
    .orderBy(uploads.id)
    .for('key share');
  return ids.filter((id) => found.some((upload) => upload.id === id));
}
