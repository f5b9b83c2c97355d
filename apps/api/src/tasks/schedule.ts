import type { PreviewTaskInput } from '@carillon/contract/occurrences';
import type { TaskSettings } from '@carillon/contract/tasks';
import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';
import { checkPattern, nearestRecurrence } from '../schedule/pattern.ts';
import { previewOccurrences } from '../schedule/preview.ts';
import { nextOccurrence, type Schedule } from '../schedule/recurrence.ts';

type ScheduleInput = Pick<TaskSettings, 'scheduledFor' | 'recurrence' | 'timezone'> &
  Partial<Pick<TaskSettings, 'recurrencePattern'>>;

/** A pattern sets `recurrence` to the nearest word. Throws 400 if it is invalid or never fires. */
export function parseSchedule(input: ScheduleInput): Schedule {
  const { recurrence, recurrencePattern = null, timezone } = input;
  const scheduledFor = new Date(input.scheduledFor);
  if (recurrencePattern === null) return { scheduledFor, recurrence, recurrencePattern, timezone };
  const problem = checkPattern(recurrencePattern, timezone);
  if (problem) throw invalidField('recurrencePattern', problem);
  return { scheduledFor, recurrence: nearestRecurrence(recurrencePattern), recurrencePattern, timezone };
}

export function assertInFuture(schedule: Schedule, now: Date): void {
  if (schedule.scheduledFor <= now) throw invalidField('scheduledFor', 'must be in the future');
}

/** Throws 400 for a schedule without future runs. */
export function previewTask(ctx: Context, { count = 10, ...input }: PreviewTaskInput) {
  const schedule = parseSchedule(input);
  const now = ctx.now();
  if (nextOccurrence(schedule, now) === null) throw invalidField('scheduledFor', 'must be in the future');
  return previewOccurrences(schedule, now, count);
}
