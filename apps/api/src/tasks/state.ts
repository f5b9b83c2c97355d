import type { ChangeTaskInput } from '@carillon/contract/tasks';
import { invalidField } from '../errors.ts';
import { nextOccurrence, type Schedule } from '../schedule/recurrence.ts';
import type { TaskRow } from './read.ts';
import { assertInFuture, parseSchedule } from './schedule.ts';

type State = Schedule & Pick<TaskRow, 'status' | 'nextExecutionAt'>;

/**
 * Throws 400 for a first run or a `once` in the past, and for pausing an ended task. `docs/decisions/tasks.md` has the
 * rules.
 */
export function nextState(before: TaskRow, input: ChangeTaskInput, now: Date): State {
  const schedule = mergeSchedule(before, input);
  const isRescheduled = hasOtherRuns(before, schedule);
  const status = input.status ?? (isRescheduled && before.status !== 'paused' ? 'active' : before.status);
  if (status === before.status && !isRescheduled) {
    return { ...schedule, status, nextExecutionAt: before.nextExecutionAt };
  }
  if (status === 'paused' && !isRescheduled) {
    if (before.status !== 'active') throw invalidField('status', 'only an active task can be paused');
    return { ...schedule, status, nextExecutionAt: null };
  }
  if (schedule.scheduledFor.getTime() !== before.scheduledFor.getTime()) assertInFuture(schedule, now);
  const next = nextOccurrence(schedule, now);
  if (next === null) throw invalidField('scheduledFor', 'has passed: give a new one in the future');
  return { ...schedule, status, nextExecutionAt: status === 'active' ? next : null };
}

function mergeSchedule(before: TaskRow, input: ChangeTaskInput): Schedule {
  const { scheduledFor, recurrence, recurrencePattern, timezone } = before;
  const given = [input.scheduledFor, input.recurrence, input.recurrencePattern, input.timezone];
  if (given.every((value) => value === undefined)) return { scheduledFor, recurrence, recurrencePattern, timezone };
  const word = input.recurrence ?? recurrence;
  // Another recurrence replaces the pattern.
  const remaining = word === recurrence ? recurrencePattern : null;
  return parseSchedule({
    scheduledFor: input.scheduledFor ?? scheduledFor.toISOString(),
    recurrence: word,
    recurrencePattern: input.recurrencePattern === undefined ? remaining : input.recurrencePattern,
    timezone: input.timezone ?? timezone,
  });
}

/** A single run is an instant, the same in every time zone. */
function hasOtherRuns(a: Schedule, b: Schedule): boolean {
  return (
    a.scheduledFor.getTime() !== b.scheduledFor.getTime() ||
    a.recurrence !== b.recurrence ||
    a.recurrencePattern !== b.recurrencePattern ||
    (a.timezone !== b.timezone && b.recurrence !== 'once')
  );
}
