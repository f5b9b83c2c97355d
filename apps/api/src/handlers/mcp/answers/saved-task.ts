import { Id, stringEnum } from '@carillon/contract/primitives';
import { TASK_STATUSES, type TaskStatus } from '@carillon/contract/tasks';
import { Type } from '@sinclair/typebox';
import type { Context } from '../../../context.ts';
import type { TaskRow } from '../../../product/tasks/read.ts';
import type { ToolAnswer } from '../tool.ts';
import { describeRuns, formatMoment, PlannedRun, type toPlannedRuns } from './moments.ts';

/** How many runs an answer about a task names. */
export const NEXT_RUNS = 3;

/** The answer of a tool that has saved a task. */
export const SavedTask = {
  taskId: Id,
  status: stringEnum(TASK_STATUSES),
  nextRuns: Type.Array(PlannedRun),
  notes: Type.Array(Type.String()),
  page: Type.String(),
};

interface Saved {
  taskId: number;
  status: TaskStatus;
  nextRuns: ReturnType<typeof toPlannedRuns>;
  /** What clock changes do to given times. */
  notes: string[];
}

/** The address of a task in the dashboard. */
export const toTaskPage = ({ config }: Pick<Context, 'config'>, id: number) => `${config.appUrl}/tasks/${id}`;

export const toRunPage = ({ config }: Pick<Context, 'config'>, id: number) => `${config.appUrl}/executions/${id}`;

export function answerSaved(
  ctx: Pick<Context, 'config'>,
  did: string,
  saved: Saved,
  more: { etag?: string } = {},
): ToolAnswer {
  const page = toTaskPage(ctx, saved.taskId);
  const lines = [
    `${did} It is ${saved.status}.`,
    ...saved.notes,
    ...describeRuns(saved.nextRuns),
    ...(more.etag === undefined ? [] : [`etag: ${more.etag}`]),
    `Page: ${page}`,
  ];
  return { text: lines.join('\n'), data: { ...saved, ...more, page } };
}

const UNITS = { daily: 'days', weekly: 'weeks', monthly: 'months' };

/** Such as `weekly`, `every 2 weeks` or `cron 0 17 * * 5`. */
export function describeSchedule(task: Pick<TaskRow, 'recurrence' | 'recurrencePattern' | 'interval'>): string {
  const { recurrence, recurrencePattern, interval } = task;
  if (recurrencePattern !== null) return `cron ${recurrencePattern}`;
  return interval === 1 || recurrence === 'once' ? recurrence : `every ${interval} ${UNITS[recurrence]}`;
}

export const FIND_TASK = 'Call list_tasks for the ids';
export const FIND_RUN = 'Call list_runs for the ids';
export const READ_AGAIN = 'Call get_task, and decide again with what it says now';

/** What an assistant can do about a refused task. */
export function adviseOnTask(ctx: Pick<Context, 'now'>, timezone: string) {
  const now = `it is ${formatMoment(ctx.now(), timezone)} now`;
  return {
    scheduledFor: now,
    endsAt: now,
    pausedUntil: now,
    channels: 'call list_channels for the ids',
    over_quota: 'Ask the user which task to pause or delete; list_tasks has them',
    not_found: FIND_TASK,
    precondition_failed: READ_AGAIN,
  };
}
