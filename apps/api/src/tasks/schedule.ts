import type { PreviewTaskInput } from '@carillon/contract/occurrences';
import type { Recurrence } from '@carillon/contract/tasks';
import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';
import { checkPattern, nearestRecurrence } from '../schedule/pattern.ts';
import { previewOccurrences } from '../schedule/preview.ts';
import { nextOccurrence, type Schedule } from '../schedule/recurrence.ts';

/** What a caller says of a schedule. */
export interface ScheduleInput {
  scheduledFor: string;
  recurrence: Recurrence;
  recurrencePattern?: string | null;
  timezone: string;
}

/**
 * The schedule that a caller describes. A pattern decides the next runs, so `recurrence` becomes the word nearest to
 * it; one that never fires is refused (decisions §5).
 */
export function readSchedule({
  scheduledFor,
  recurrence,
  recurrencePattern = null,
  timezone,
}: ScheduleInput): Schedule {
  const at = new Date(scheduledFor);
  if (recurrencePattern === null) return { scheduledFor: at, recurrence, recurrencePattern, timezone };
  const problem = checkPattern(recurrencePattern, timezone);
  if (problem) throw invalidField('recurrencePattern', problem);
  return { scheduledFor: at, recurrence: nearestRecurrence(recurrencePattern), recurrencePattern, timezone };
}

/** Refuses a first run that is not ahead (specification "Task"). */
export function assertAhead(schedule: Schedule, now: Date): void {
  if (schedule.scheduledFor <= now) throw invalidField('scheduledFor', 'must be in the future');
}

/** The next instants of a schedule, before it is saved; 10 unless `count` says otherwise (decisions §5). */
export function previewTask(ctx: Context, { count = 10, ...input }: PreviewTaskInput) {
  const schedule = readSchedule(input);
  const now = ctx.now();
  if (nextOccurrence(schedule, now) === null) throw invalidField('scheduledFor', 'must be in the future');
  return previewOccurrences(schedule, now, count);
}
