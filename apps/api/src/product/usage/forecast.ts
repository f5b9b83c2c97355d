import { DAY_MS } from '@carillon/contract/primitives';
import type { PlanLimits } from '../../platform/limits/plan-limits.ts';
import { nextDay, nextMonth } from '../../platform/limits/quotas.ts';
import { countRuns } from '../schedule/count-runs.ts';
import { findRun, type Plan } from '../schedule/next-run.ts';

const SLOT_MS = 30 * 60_000;
const MAX_NEXT = 20;

interface Counter {
  executions: number;
  tokens: number;
}

/** What an account has used, and what it may use. */
interface Allowance {
  limits: PlanLimits;
  day: Counter;
  month: Counter;
  /** Null for an account without a trial. */
  trialEndsAt: Date | null;
}

interface PlannedTask {
  taskId: number;
  taskName: string;
  plan: Plan;
  nextExecutionAt: Date;
  /** Its budget refuses its runs before this instant; null without such a budget. */
  overBudgetUntil: number | null;
}

type Resource = 'trial' | 'executions' | 'tokens';

/** What refuses runs, and the runs that it refuses. */
export interface Shortage {
  resource: Resource;
  /** Null for the trial. */
  period: 'day' | 'month' | null;
  used: number | null;
  limit: number | null;
  /** When the first run is refused, to the half hour; now, if it is used up. */
  from: Date;
  /** Null for the trial. */
  until: Date | null;
  isNow: boolean;
  /** The planned runs that are refused until then; of the trial, in its next 24 hours. */
  runs: number;
  tasks: number;
}

interface Slot {
  /** A full or a half hour in UTC; of the first one, now. */
  from: Date;
  runs: number;
  /** Those of the runs that are refused. */
  refused: number;
}

interface NextRun {
  taskId: number;
  taskName: string;
  at: Date;
  refusedBy: Resource | 'budget' | null;
}

interface Forecast {
  slots: Slot[];
  next: NextRun[];
  shortages: Shortage[];
  /** Executions and tokens of this month by its end, as far as the quotas allow. */
  expected: Counter;
}

/** Counts down what is left while planned runs take place. */
function openAllowance({ limits, day, month, trialEndsAt }: Allowance, now: Date) {
  const left = {
    day: { executions: limits.executionsPerDay - day.executions, tokens: limits.tokensPerDay - day.tokens },
    month: { executions: limits.executionsPerMonth - month.executions, tokens: limits.tokensPerMonth - month.tokens },
  };
  const tokensPerRun = month.executions > 0 ? month.tokens / month.executions : 0;
  const expected = { executions: month.executions, tokens: month.tokens };
  const thisMonthEnd = nextMonth(now).getTime();
  let dayEnd = nextDay(now).getTime();
  let monthEnd = thisMonthEnd;

  /** Returns how many of the runs at an instant are admitted, and what refuses the others. */
  function admit(
    at: number,
    runs: number,
  ): { admitted: number; refusedBy: Pick<Shortage, 'resource' | 'period'> | null } {
    if (trialEndsAt !== null && trialEndsAt.getTime() <= at) {
      return { admitted: 0, refusedBy: { resource: 'trial', period: null } };
    }
    if (at >= dayEnd) {
      dayEnd = nextDay(new Date(at)).getTime();
      left.day = { executions: limits.executionsPerDay, tokens: limits.tokensPerDay };
    }
    if (at >= monthEnd) {
      monthEnd = nextMonth(new Date(at)).getTime();
      left.month = { executions: limits.executionsPerMonth, tokens: limits.tokensPerMonth };
    }
    const refusals = (['month', 'day'] as const).flatMap((period) => [
      { resource: 'executions' as const, period, left: Math.max(0, left[period].executions) },
      { resource: 'tokens' as const, period, left: countAffordable(left[period].tokens) },
    ]);
    const least = refusals.reduce((one, other) => (other.left < one.left ? other : one));
    const admitted = Math.min(runs, least.left);
    for (const period of ['day', 'month'] as const) {
      left[period].executions -= admitted;
      left[period].tokens -= admitted * tokensPerRun;
    }
    if (at < thisMonthEnd) {
      expected.executions += admitted;
      expected.tokens += admitted * tokensPerRun;
    }
    return { admitted, refusedBy: admitted < runs ? { resource: least.resource, period: least.period } : null };
  }

  /** A run starts as long as a token is left. */
  const countAffordable = (tokens: number) =>
    tokens <= 0 ? 0 : tokensPerRun === 0 ? Number.POSITIVE_INFINITY : Math.ceil(tokens / tokensPerRun);

  return { admit, expected };
}

/** What the quotas, the trial and the budgets leave of the planned runs: of the next 24 hours, and until the month ends. */
export function forecastRuns(tasks: readonly PlannedTask[], allowance: Allowance, now: Date): Forecast {
  const start = now.getTime();
  const boundaries = listBoundaries(allowance, now);
  const counts = tasks.map(({ plan, nextExecutionAt }) => countFromNext(plan, nextExecutionAt, boundaries));
  const { admit, expected } = openAllowance(allowance, now);
  const shortages = new Map<string, Shortage & { taskIds: Set<number> }>();
  const slots: Slot[] = [];
  for (const { resource, period } of listUsedUp(allowance, now)) addShortage(resource, period, start);

  boundaries.slice(0, -1).forEach((from, at) => {
    const open = tasks.flatMap((task, index) => {
      const runs = counts[index]?.[at] ?? 0;
      return runs > 0 ? [{ taskId: task.taskId, runs, isOver: from < (task.overBudgetUntil ?? 0) }] : [];
    });
    const sum = (isOver: boolean) => open.reduce((total, task) => total + (task.isOver === isOver ? task.runs : 0), 0);
    const [asked, overBudget] = [sum(false), sum(true)];
    const { admitted, refusedBy } = admit(from, asked);
    const refused = asked - admitted;
    if (refusedBy) {
      const shortage = addShortage(refusedBy.resource, refusedBy.period, from);
      if (shortage) {
        shortage.runs += refused;
        for (const { taskId, isOver } of open) if (!isOver) shortage.taskIds.add(taskId);
      }
    }
    if (from < start + DAY_MS) addToSlots(slots, from, { runs: asked + overBudget, refused: refused + overBudget });
  });

  /** The first time that a quota refuses runs; null for a later window of the same quota. */
  function addShortage(resource: Resource, period: Shortage['period'], from: number) {
    const key = `${resource} ${period}`;
    const known = shortages.get(key);
    if (known) return from < (known.until?.getTime() ?? known.from.getTime() + DAY_MS) ? known : null;
    const described = describeShortage(resource, period, from, allowance, now);
    const shortage = { ...described, runs: 0, tasks: 0, taskIds: new Set<number>() };
    shortages.set(key, shortage);
    return shortage;
  }

  return {
    slots,
    next: listNext(tasks, allowance, now),
    shortages: [...shortages.values()].map(({ taskIds, ...one }) => ({
      ...one,
      tasks: Math.min(taskIds.size, one.runs),
    })),
    expected: { executions: expected.executions, tokens: Math.round(expected.tokens) },
  };
}

function describeShortage(
  resource: Resource,
  period: Shortage['period'],
  from: number,
  { limits, ...used }: Allowance,
  now: Date,
): Omit<Shortage, 'runs' | 'tasks'> {
  const start = { resource, period, from: new Date(from) };
  if (resource === 'trial' || period === null) {
    return { ...start, used: null, limit: null, until: null, isNow: from === now.getTime() };
  }
  const findEnd = period === 'day' ? nextDay : nextMonth;
  const until = findEnd(start.from);
  const limit = limits[period === 'day' ? (`${resource}PerDay` as const) : (`${resource}PerMonth` as const)];
  const isThis = findEnd(now).getTime() === until.getTime();
  const usedBefore = isThis ? used[period][resource] : 0;
  return { ...start, used: usedBefore, limit, until, isNow: isThis && usedBefore >= limit };
}

/** Half hours of a day, then days until the month ends, and the end of the trial among them. */
function listBoundaries({ trialEndsAt }: Allowance, now: Date): number[] {
  const start = now.getTime();
  const dayEnd = start + DAY_MS;
  const firstSlot = Math.floor(start / SLOT_MS + 1) * SLOT_MS;
  const slots = Array.from({ length: DAY_MS / SLOT_MS }, (_, at) => firstSlot + at * SLOT_MS).filter(
    (at) => at < dayEnd,
  );
  const days: number[] = [];
  for (let at = nextDay(new Date(dayEnd)).getTime(); at <= nextMonth(now).getTime(); at += DAY_MS) days.push(at);
  const trial = trialEndsAt?.getTime() ?? 0;
  const all = [start, ...slots, dayEnd, ...days];
  const end = all.at(-1) as number;
  const ofTrial = [trial, trial + DAY_MS].filter((at) => at > start && at < end);
  return [...new Set([...all, ...ofTrial])].sort((one, other) => one - other);
}

/** A skipped run is not planned any more; one that is due takes place now. */
function countFromNext(plan: Plan, next: Date, boundaries: readonly number[]): number[] {
  const [start = 0] = boundaries;
  const due = next.getTime() < start ? 1 : 0;
  const pausedUntil = new Date(Math.max(plan.pausedUntil?.getTime() ?? 0, next.getTime()));
  const plannedRuns = (plan.plannedRuns ?? 0) + due;
  const [first = 0, ...others] = countRuns({ ...plan, pausedUntil, plannedRuns }, boundaries);
  return [first + due, ...others];
}

function addToSlots(slots: Slot[], from: number, { runs, refused }: { runs: number; refused: number }) {
  const last = slots.at(-1);
  if (last && Math.floor(last.from.getTime() / SLOT_MS) === Math.floor(from / SLOT_MS)) {
    last.runs += runs;
    last.refused += refused;
  } else {
    slots.push({ from: new Date(from), runs, refused });
  }
}

/** The quotas of which nothing is left, whether or not a run is planned. */
function listUsedUp(
  { limits, day, month, trialEndsAt }: Allowance,
  now: Date,
): Pick<Shortage, 'resource' | 'period'>[] {
  if (trialEndsAt !== null && trialEndsAt <= now) return [{ resource: 'trial', period: null }];
  const quotas = [
    { resource: 'executions', period: 'month', isUsedUp: month.executions >= limits.executionsPerMonth },
    { resource: 'tokens', period: 'month', isUsedUp: month.tokens >= limits.tokensPerMonth },
    { resource: 'executions', period: 'day', isUsedUp: day.executions >= limits.executionsPerDay },
    { resource: 'tokens', period: 'day', isUsedUp: day.tokens >= limits.tokensPerDay },
  ] as const;
  return quotas.filter(({ isUsedUp }) => isUsedUp);
}

/** The first runs of the next 24 hours, one by one. */
function listNext(tasks: readonly PlannedTask[], allowance: Allowance, now: Date): NextRun[] {
  const { admit } = openAllowance(allowance, now);
  const until = now.getTime() + DAY_MS;
  const ahead = tasks.map((task) => ({ task, at: task.nextExecutionAt.getTime() }));
  const next: NextRun[] = [];
  while (next.length < MAX_NEXT) {
    const [first, ...others] = ahead.filter(({ at }) => at < until);
    const earliest = first && others.reduce((one, other) => (other.at < one.at ? other : one), first);
    if (!earliest) break;
    const { task, at } = earliest;
    const { taskId, taskName, plan, overBudgetUntil } = task;
    const isOverBudget = at < (overBudgetUntil ?? 0);
    const refusedBy = isOverBudget ? 'budget' : (admit(Math.max(at, now.getTime()), 1).refusedBy?.resource ?? null);
    next.push({ taskId, taskName, at: new Date(at), refusedBy });
    const planned = next.filter((run) => run.taskId === taskId).length;
    const isLast = plan.maxRuns != null && (plan.plannedRuns ?? 0) + planned >= plan.maxRuns;
    earliest.at = isLast ? until : (findRun(plan, Math.max(at, now.getTime()))?.at ?? until);
  }
  return next;
}
