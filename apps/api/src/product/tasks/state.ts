import type { ChangeTaskInput, TaskStatus } from '@carillon/contract/tasks';
import { invalidField } from '../../errors.ts';
import { findEnd, nextRun, type Plan } from '../schedule/next-run.ts';
import type { Schedule } from '../schedule/recurrence.ts';
import { isSameSchedule } from '../schedule/same-schedule.ts';
import type { TaskRow } from './read.ts';
import { assertInFuture, parseSchedule, requireNextRun } from './schedule.ts';

type TaskLimits = Pick<TaskRow, 'endsAt' | 'maxRuns' | 'pausedUntil'>;
type State = Required<Schedule> & Pick<TaskRow, 'status' | 'nextExecutionAt'>;

/**
 * `limits` are those after the change. An active task without a next run is over once no run of it is left. Throws 400
 * for a first run or a `once` in the past, for limits that leave no run, and for pausing an ended task. An import may have what
 * an export had: instants in the past, and an ended task.
 * `docs/decisions/tasks.md` has the rules.
 */
export function nextState(
  before: TaskRow,
  input: Omit<ChangeTaskInput, 'status'> & { status?: TaskStatus },
  limits: TaskLimits,
  now: Date,
  { isImport = false } = {},
): State {
  const schedule = mergeSchedule(before, input);
  const { endsAt, maxRuns, pausedUntil } = limits;
  const plan: Plan = { ...schedule, endsAt, maxRuns, pausedUntil, plannedRuns: before.plannedRuns };
  if (!isImport) assertNewLimits(before, limits, now);
  const isRescheduled = !isSameSchedule(before, schedule);
  const status = input.status ?? (resumes(before, plan, isRescheduled, now) ? 'active' : before.status);
  if (status === before.status && !isRescheduled) {
    return { ...schedule, status, nextExecutionAt: status === 'active' ? moveNextRun(before, plan, now) : null };
  }
  if (status === 'paused' && !isRescheduled) {
    if (before.status !== 'active' && !isImport) throw invalidField('status', 'only an active task can be paused');
    return { ...schedule, status, nextExecutionAt: null };
  }
  const isMoved = schedule.scheduledFor.getTime() !== before.scheduledFor.getTime();
  if (isMoved && !isImport) assertInFuture(schedule, now);
  const next = isImport && status !== 'active' ? null : requireNextRun(plan, now);
  return { ...schedule, status, nextExecutionAt: status === 'active' ? next : null };
}

/** Throws 400. A past instant that the task has already may be sent back. */
export function assertNewLimits(before: TaskLimits | null, limits: TaskLimits, now: Date): void {
  for (const field of ['endsAt', 'pausedUntil'] as const) {
    const given = limits[field];
    const isNew = given !== null && given.getTime() !== before?.[field]?.getTime();
    if (isNew && given <= now) throw invalidField(field, 'must be in the future');
  }
}

/** A new schedule resumes a task that has ended, and so do limits that it had reached and no longer has. */
function resumes(before: TaskRow, plan: Plan, isRescheduled: boolean, now: Date): boolean {
  if (before.status === 'paused') return false;
  if (isRescheduled) return true;
  const hadEnded = before.status === 'completed' && ['endsAt', 'maxRuns'].includes(findEnd(before, now) ?? '');
  return hadEnded && nextRun(plan, now) !== null;
}

/** The next run of an active task under limits that may have changed. Throws 400 for a pause without a run after it. */
function moveNextRun(before: TaskRow, plan: Plan, now: Date): Date | null {
  const isSame = (['endsAt', 'maxRuns', 'pausedUntil'] as const).every(
    (field) => before[field]?.valueOf() === plan[field]?.valueOf(),
  );
  if (isSame) return before.nextExecutionAt;
  const keepsPause = before.pausedUntil?.getTime() === plan.pausedUntil?.getTime();
  // A run that is due, or the one after a skipped one, stays the next.
  const after = keepsPause && before.nextExecutionAt ? new Date(before.nextExecutionAt.getTime() - 1) : now;
  const next = nextRun(plan, after);
  if (next === null && !keepsPause && findEnd(plan, after) === 'pausedUntil') requireNextRun(plan, after);
  return next;
}

function mergeSchedule(before: TaskRow, input: Omit<ChangeTaskInput, 'status'>): Required<Schedule> {
  const { scheduledFor, recurrence, recurrencePattern, interval, timezone } = before;
  const given = [input.scheduledFor, input.recurrence, input.recurrencePattern, input.interval, input.timezone];
  if (given.every((value) => value === undefined)) {
    return { scheduledFor, recurrence, recurrencePattern, interval, timezone };
  }
  const word = input.recurrence ?? recurrence;
  // Another recurrence replaces the pattern.
  const remaining = word === recurrence ? recurrencePattern : null;
  const pattern = input.recurrencePattern === undefined ? remaining : input.recurrencePattern;
  return parseSchedule({
    scheduledFor: input.scheduledFor ?? scheduledFor.toISOString(),
    recurrence: word,
    recurrencePattern: pattern,
    // What has no interval ends the one that there was.
    interval: input.interval ?? (pattern === null && word !== 'once' ? interval : 1),
    timezone: input.timezone ?? timezone,
  });
}
