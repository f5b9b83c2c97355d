import type { ChangeTaskInput } from '@carillon/contract/tasks';
import { invalidField } from '../errors.ts';
import { nextOccurrence, type Schedule } from '../schedule/recurrence.ts';
import type { TaskRow } from './read.ts';
import { assertAhead, readSchedule } from './schedule.ts';

type State = Schedule & Pick<TaskRow, 'status' | 'nextExecutionAt'>;

/**
 * Schedule, status and next run of a task after a change (decisions §5). Resuming and changing the schedule compute the
 * next run anew, from `now` on: what fell due during a pause is not made up. A changed schedule also wakes a task that
 * had ended, while a paused one stays paused. Values that a task has already change nothing, so that a client may send
 * a whole task back. Refusals (400): a first run or a `once` that has passed, pausing a task that has ended.
 */
export function nextState(before: TaskRow, input: ChangeTaskInput, now: Date): State {
  const schedule = scheduleAfter(before, input);
  const reschedules = differ(before, schedule);
  const status = input.status ?? (reschedules && before.status !== 'paused' ? 'active' : before.status);
  if (status === before.status && !reschedules) {
    return { ...schedule, status, nextExecutionAt: before.nextExecutionAt };
  }
  if (status === 'paused' && !reschedules) {
    if (before.status !== 'active') throw invalidField('status', 'only an active task can be paused');
    return { ...schedule, status, nextExecutionAt: null };
  }
  if (schedule.scheduledFor.getTime() !== before.scheduledFor.getTime()) assertAhead(schedule, now);
  const next = nextOccurrence(schedule, now);
  if (next === null) throw invalidField('scheduledFor', 'has passed: give a new one in the future');
  return { ...schedule, status, nextExecutionAt: status === 'active' ? next : null };
}

function scheduleAfter(before: TaskRow, input: ChangeTaskInput): Schedule {
  const { scheduledFor, recurrence, recurrencePattern, timezone } = before;
  const given = [input.scheduledFor, input.recurrence, input.recurrencePattern, input.timezone];
  if (given.every((value) => value === undefined)) return { scheduledFor, recurrence, recurrencePattern, timezone };
  const word = input.recurrence ?? recurrence;
  // A new word for the recurrence takes the place of a pattern.
  const keptPattern = word === recurrence ? recurrencePattern : null;
  return readSchedule({
    scheduledFor: input.scheduledFor ?? scheduledFor.toISOString(),
    recurrence: word,
    recurrencePattern: input.recurrencePattern === undefined ? keptPattern : input.recurrencePattern,
    timezone: input.timezone ?? timezone,
  });
}

/** Whether two schedules run at other times. A single run is an instant, whatever zone it is shown in. */
function differ(a: Schedule, b: Schedule): boolean {
  return (
    a.scheduledFor.getTime() !== b.scheduledFor.getTime() ||
    a.recurrence !== b.recurrence ||
    a.recurrencePattern !== b.recurrencePattern ||
    (a.timezone !== b.timezone && b.recurrence !== 'once')
  );
}
