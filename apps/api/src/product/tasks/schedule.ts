import type { PreviewTaskInput } from '@carillon/contract/occurrences';
import type { TaskSettings } from '@carillon/contract/tasks';
import type { Language } from '@carillon/texts';
import type { Context } from '../../context.ts';
import { invalidField } from '../../errors.ts';
import { findEnd, nextRun, type Plan } from '../schedule/next-run.ts';
import { checkPattern, nearestRecurrence } from '../schedule/pattern.ts';
import { type PreviewedOccurrence, previewOccurrences } from '../schedule/preview.ts';
import type { Schedule } from '../schedule/recurrence.ts';

type ScheduleInput = Pick<TaskSettings, 'scheduledFor' | 'recurrence' | 'timezone'> &
  Partial<Pick<TaskSettings, 'recurrencePattern' | 'interval'>>;

/** A pattern sets `recurrence` to the nearest word. Throws 400 if it is invalid or never fires, and for an interval of it. */
export function parseSchedule(input: ScheduleInput): Required<Schedule> {
  const { recurrence, recurrencePattern = null, interval = 1, timezone } = input;
  const scheduledFor = new Date(input.scheduledFor);
  if (interval !== 1 && (recurrencePattern !== null || recurrence === 'once')) {
    throw invalidField('interval', `must be 1 with ${recurrencePattern === null ? '`once`' : 'a `recurrencePattern`'}`);
  }
  if (recurrencePattern === null) return { scheduledFor, recurrence, recurrencePattern, interval, timezone };
  const problem = checkPattern(recurrencePattern, timezone);
  if (problem) throw invalidField('recurrencePattern', problem);
  return { scheduledFor, recurrence: nearestRecurrence(recurrencePattern), recurrencePattern, interval, timezone };
}

export function assertInFuture(schedule: Schedule, now: Date): void {
  if (schedule.scheduledFor <= now) throw invalidField('scheduledFor', 'must be in the future');
}

const NO_RUN = {
  scheduledFor: 'has passed: give a new one in the future',
  maxRuns: 'is reached: give a larger number, or null',
  endsAt: 'must be after the next run, or null',
  pausedUntil: 'must be before the last run, or null',
} as const;

/** Throws 400 that names the field which leaves no run. */
export function requireNextRun(plan: Plan, now: Date): Date {
  const next = nextRun(plan, now);
  if (next !== null) return next;
  const field = findEnd(plan, now) ?? 'scheduledFor';
  throw invalidField(field, NO_RUN[field]);
}

export type PlanInput = Omit<PreviewTaskInput, 'count'> & { plannedRuns?: number };

/** Throws 400 if its pattern is invalid. */
export function toPlan({ endsAt, pausedUntil, maxRuns = null, plannedRuns = 0, ...input }: PlanInput): Plan {
  const limits = { endsAt: toDate(endsAt), pausedUntil: toDate(pausedUntil), maxRuns, plannedRuns };
  return { ...parseSchedule(input), ...limits };
}

/** With notes of the API unless a language is given. Throws 400 for a plan without future runs. */
export function previewTask(
  ctx: Context,
  { count = 10, ...input }: PreviewTaskInput & { plannedRuns?: number },
  language: Language | null = null,
) {
  const plan = toPlan(input);
  const now = ctx.now();
  if (findEnd(plan, now) === 'scheduledFor') throw invalidField('scheduledFor', 'must be in the future');
  requireNextRun(plan, now);
  return previewOccurrences(plan, now, count, language);
}

/** The next planned runs of a task, with notes of the API unless a language is given; empty for one that has none. */
export function previewNextRuns(
  ctx: Pick<Context, 'now' | 'log'>,
  task: Plan & { id: number; nextExecutionAt: Date | null },
  count: number,
  language: Language | null = null,
): PreviewedOccurrence[] {
  if (task.nextExecutionAt === null) return [];
  try {
    const after = Math.max(ctx.now().getTime(), task.nextExecutionAt.getTime() - 1);
    return previewOccurrences(task, new Date(after), count, language);
  } catch (error) {
    // What else an answer shows does not need the schedule.
    ctx.log.error({ err: error, taskId: task.id }, 'next runs of a task cannot be computed');
    return [];
  }
}

function toDate(given: string | null | undefined): Date | null {
  return given ? new Date(given) : null;
}
