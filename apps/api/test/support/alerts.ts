import { alerts } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../src/context.ts';
import { createTask } from '../../src/product/tasks/write.ts';
import { TASK } from './tasks.ts';

/** When the first run of `TASK` is planned. */
export const PLANNED = new Date(TASK.scheduledFor);
export const minutesAfter = (minutes: number, from = PLANNED) => new Date(from.getTime() + minutes * 60_000);

/** Inserts an alert of a task, and returns its id. */
export async function insertAlert(ctx: Context, owner: { taskId: number; userId: number }): Promise<number> {
  const text = { kind: 'task.failing', title: 'A', message: 'B', data: {} } as const;
  const [row] = await ctx.db
    .insert(alerts)
    .values({ ...owner, ...text, at: ctx.now(), createdAt: ctx.now() })
    .returning({ id: alerts.id });
  return row?.id as number;
}

type Given = Partial<Parameters<typeof createTask>[2]>;

/** Creates `TASK` with `given`. Default: with a webhook, so that the default rules apply. */
export const createAlertedTask = (ctx: Context, caller: Caller, given: Given = {}): Promise<number> =>
  createTask(ctx, caller, { ...TASK, webhookUrl: 'http://127.0.0.1:9/', ...given } as Parameters<typeof createTask>[2]);

/** Oldest first. */
export const readAlerts = (ctx: Context, taskId: number) =>
  ctx.db.select().from(alerts).where(eq(alerts.taskId, taskId)).orderBy(asc(alerts.id));

export const readAlertKinds = async (ctx: Context, taskId: number) =>
  (await readAlerts(ctx, taskId)).map(({ kind, at }) => [kind, at.toISOString()]);
