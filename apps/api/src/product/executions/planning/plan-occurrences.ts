import { toInstant, toInstantOrNull } from '@carillon/db';
import type { Context } from '../../../context.ts';
import { admitExecution, type QuotaAccount, type QuotaExceeded } from '../../../platform/limits/quotas.ts';
import {
  type DueOccurrences,
  listDueOccurrences,
  MAX_DUE_OCCURRENCES,
  type Plan,
  type RunLimits,
} from '../../schedule/next-run.ts';
import type { Schedule } from '../../schedule/recurrence.ts';
import { type Budget, checkBudget, type HighestCost } from '../budget/budget.ts';
import { applyMissedPolicy, applyOverlapPolicy, LATE_AFTER_MS, type Policies } from './policies.ts';

/** The retry interval for a task whose next occurrence cannot be computed. */
const UNSCHEDULABLE_PAUSE_MS = 24 * 60 * 60 * 1000;

type InstantField = 'scheduledFor' | 'endsAt' | 'pausedUntil';

export interface DueTask extends Omit<Schedule & RunLimits, InstantField>, Policies {
  id: number;
  userId: number;
  scheduledFor: string;
  endsAt: string | null;
  pausedUntil: string | null;
  /** Null only if its last instant was looked at before it runs. */
  nextExecutionAt: string | null;
  /** Whether its sources are looked at before a run is planned. */
  looksFirst: boolean;
  budget: Budget | null;
}

type Fate = 'ran' | 'late' | 'skipped_overlap' | 'missed' | 'over_quota' | 'over_budget' | 'unchanged';

/** What one transaction writes for a due task. */
export interface TaskPlan {
  task: DueTask;
  ledger: { at: Date; fate: Fate }[];
  /** In order of time. */
  runs: { at: Date; exceeded: QuotaExceeded | null }[];
  /** The instants whose runs are planned once the sources have been read. */
  looks: Date[];
  nextExecutionAt: Date | null;
}

/** The next batch takes the tasks beyond `MAX_DUE_OCCURRENCES`. */
export function computeDueOccurrences(ctx: Context, tasks: readonly DueTask[], now: Date) {
  const due: { task: DueTask; occurrences: DueOccurrences }[] = [];
  let left = MAX_DUE_OCCURRENCES;
  for (const task of tasks) {
    if (left <= 0) break;
    const occurrences = computeDue(ctx, task, now, left);
    left -= occurrences.missed.length + 1;
    due.push({ task, occurrences });
  }
  return { due, isCut: left <= 0 };
}

function computeDue(ctx: Context, task: DueTask, now: Date, limit: number): DueOccurrences {
  const from = toInstant(task.nextExecutionAt as string);
  try {
    const due = listDueOccurrences(toPlan(task), from, now, limit);
    if (due.next === null && task.recurrence !== 'once' && !hasEnd(task))
      throw new Error('The schedule has no next run.');
    return due;
  } catch (error) {
    // A broken task must not stop the others, or fail at every tick.
    ctx.log.error({ err: error, taskId: task.id }, 'next run of a task cannot be computed');
    return { missed: [], latest: from, next: new Date(now.getTime() + UNSCHEDULABLE_PAUSE_MS) };
  }
}

const toPlan = (task: DueTask): Plan => ({
  ...task,
  scheduledFor: toInstant(task.scheduledFor),
  endsAt: toInstantOrNull(task.endsAt),
  pausedUntil: toInstantOrNull(task.pausedUntil),
});

const hasEnd = ({ endsAt, maxRuns }: DueTask) => endsAt !== null || maxRuns !== null;

export const countQueued = (runs: TaskPlan['runs']) => runs.filter(({ exceeded }) => exceeded === null).length;

/** Those whose queued runs replace what the task has pending or running. */
export const listReplacing = (plans: readonly TaskPlan[]): number[] =>
  plans
    .filter(({ task, runs }) => task.overlap === 'cancel' && task.isBusy && countQueued(runs) > 0)
    .map(({ task }) => task.id);

/** Those whose last planned run is due, or whose account is suspended. */
export const listEnding = (plans: readonly TaskPlan[]): number[] =>
  plans
    .filter(({ task, nextExecutionAt }) => nextExecutionAt === null && task.recurrence !== 'once')
    .map(({ task }) => task.id);

export interface PlanLimits {
  account: QuotaAccount;
  highestCost: HighestCost;
  now: Date;
}

/** Runs that are over budget already are not queued; a run that is the last of its task is refused at its start. */
export function planOccurrences(task: DueTask, due: DueOccurrences, limits: PlanLimits): TaskPlan {
  const { account, now } = limits;
  // Activating the account computes the next instants of its tasks.
  if (!account.isActive) return { task, ledger: [], runs: [], looks: [], nextExecutionAt: null };
  const { missed, runnable, next } = applyMissedPolicy(task, due, now);
  const ledger = missed.map(toRow('missed'));
  if (task.looksFirst) return { task, ledger, runs: [], looks: runnable, nextExecutionAt: next };
  const plan = planRuns(task, runnable, next, limits);
  return { ...plan, ledger: [...ledger, ...plan.ledger] };
}

/** The runs of a task whose sources were looked at, for the instants that were due. */
export function planLooked(
  task: DueTask & { status: string },
  { instants, isUnchanged }: { instants: readonly Date[]; isUnchanged: boolean },
  limits: PlanLimits,
): TaskPlan {
  const next = toInstantOrNull(task.nextExecutionAt);
  const settle = (fate: Fate): TaskPlan => ({
    task,
    ledger: instants.map(toRow(fate)),
    runs: [],
    looks: [],
    nextExecutionAt: next,
  });
  if (task.status !== 'active' || !limits.account.isActive) {
    // A `once` task runs late, once the account is active again.
    return task.recurrence === 'once' && !limits.account.isActive
      ? { ...settle('missed'), ledger: [] }
      : settle('missed');
  }
  return isUnchanged ? settle('unchanged') : planRuns(task, instants, next, limits);
}

function planRuns(
  task: DueTask,
  runnable: readonly Date[],
  next: Date | null,
  { account, highestCost, now }: PlanLimits,
): TaskPlan {
  const isOverBudget = next !== null && checkBudget(task.budget, highestCost, now) !== null;
  const { runs, skipped } = isOverBudget ? { runs: [], skipped: [] } : applyOverlapPolicy(task, runnable);
  const admitted = admitRuns(task, runs, account, now);
  const ledger: TaskPlan['ledger'] = [
    ...(isOverBudget ? runnable : []).map(toRow('over_budget')),
    ...skipped.map(toRow('skipped_overlap')),
    ...admitted.map(({ at, exceeded }) => ({ at, fate: exceeded ? 'over_quota' : fateOfRun(at, now) })),
  ];
  return { task, ledger, runs: admitted, looks: [], nextExecutionAt: hasRunsLeft(task, admitted) ? next : null };
}

const toRow = (fate: Fate) => (at: Date) => ({ at, fate });

export const listLooks = (plans: readonly TaskPlan[]) =>
  plans.flatMap(({ task, looks }) => looks.map((at) => ({ taskId: task.id, at })));

/** The tasks of which an instant was over budget. */
export const listOverBudget = (plans: readonly TaskPlan[]): number[] =>
  plans.filter(({ ledger }) => ledger.some(({ fate }) => fate === 'over_budget')).map(({ task }) => task.id);

/** Nothing is planned after the last run that `maxRuns` allows. */
function admitRuns(task: DueTask, instants: readonly Date[], account: QuotaAccount, now: Date): TaskPlan['runs'] {
  const runs: TaskPlan['runs'] = [];
  for (const at of instants) {
    if (hasRunsLeft(task, runs)) runs.push({ at, exceeded: admitExecution(account, now) });
  }
  return runs;
}

const hasRunsLeft = ({ maxRuns, plannedRuns }: DueTask, runs: TaskPlan['runs']) =>
  maxRuns === null || plannedRuns + countQueued(runs) < maxRuns;

const fateOfRun = (at: Date, now: Date): Fate => (now.getTime() - at.getTime() > LATE_AFTER_MS ? 'late' : 'ran');
