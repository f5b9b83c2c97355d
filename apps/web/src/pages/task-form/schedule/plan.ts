import { isTimeZone } from '@carillon/contract/validation/formats';
import { type Texts, translateApiMessage } from '@carillon/texts';
import type { StoredTask, WebActionData } from '../../../actions.ts';
import { formatCron } from '../../../components/schedule/format-cron.ts';
import {
  describeRecurrence,
  parseCron,
  type Recurrence,
  type TaskSchedule,
  toRecurrence,
} from '../../../components/schedule/recurrence-text.ts';
import { type UserPageContext, unwrap } from '../../../page.ts';
import { type ScheduleValues, toScheduleValues } from '../form-values.ts';
import { nameFields, type Problems } from '../problems.ts';
import { findNextDay, isRecurrence, readRecurrence, readSingleRun } from './read-recurrence.ts';

type Occurrence = WebActionData<'previewRuns'>['occurrences'][number];

/** The schedule as the API has it. */
export interface Schedule {
  scheduledFor: string;
  recurrence: StoredTask['recurrence'];
  recurrencePattern: string | null;
  interval?: number;
  timezone: string;
}

/** What the typed schedule means. */
export interface Plan {
  /** With its first run; null while something is wrong. */
  schedule: Schedule | null;
  /** Null for a pattern that has no words. */
  words: Recurrence | null;
  /** Null for words that have no pattern. */
  cron: string | null;
  runs: readonly Occurrence[];
  problems: Problems;
  /** Whether it is the schedule that the task has, or that was proposed. */
  isStored: boolean;
}

export const SHOWN_RUNS = 8;

/** What bounds the runs of a schedule. */
export interface RunLimits {
  endsAt: string | null;
  maxRuns: number | null;
  pausedUntil: string | null;
  /** The runs that count against `maxRuns` already. */
  plannedRuns: number;
}

const NO_LIMITS: RunLimits = { endsAt: null, maxRuns: null, pausedUntil: null, plannedRuns: 0 };

/** Where a plan is made. */
interface Planner {
  context: UserPageContext;
  limits: RunLimits;
}

/** Finds the next runs of the typed schedule. */
export async function planRuns(
  context: UserPageContext,
  values: ScheduleValues,
  task: TaskSchedule | null,
  limits: RunLimits = NO_LIMITS,
): Promise<Plan> {
  const planner = { context, limits };
  const stored = task && toScheduleValues(task, context.now);
  if (stored && isSameSchedule(values, stored, context.texts)) return planStored(planner, task);
  if (stored && isRespelled(values, stored)) {
    return { ...(await planStored(planner, { ...task, recurrencePattern: values.cron })), isStored: false };
  }
  if (!isTimeZone(values.timezone)) return fail({ timezone: [context.texts.taskForm.chooseZone] });
  if (values.mode === 'cron') return planPattern(planner, values.cron, parseCron(values.cron), values);
  const words = readRecurrence(values, context.texts);
  if (!isRecurrence(words)) return fail(words);
  const cron = formatCron(words);
  if (cron !== null) return planPattern(planner, cron, words, values);
  const first =
    words.every === 'month' && words.day !== 'last' && words.interval === undefined
      ? findNextDay({ ...words, day: words.day }, values.timezone, context.now)
      : readSingleRun(values, context.texts);
  if (!(first instanceof Date)) return fail(first);
  if (first <= context.now) return fail({ date: [context.texts.taskForm.firstInPast] });
  return previewSchedule(planner, words, null, {
    scheduledFor: first.toISOString(),
    ...toSchedule(words),
    recurrencePattern: null,
    timezone: values.timezone,
  });
}

/** Of words without a pattern. */
function toSchedule(words: Recurrence) {
  const interval = ('interval' in words && words.interval) || 1;
  const names = { day: 'daily', week: 'weekly', month: 'monthly', once: 'once' } as const;
  return { recurrence: names[words.every as keyof typeof names], interval };
}

const fail = (problems: Problems, words: Recurrence | null = null, cron: string | null = null): Plan => ({
  schedule: null,
  words,
  cron,
  runs: [],
  problems,
  isStored: false,
});

/** The first run is the next time that the pattern fires, even in a pause: the task may be resumed before. */
async function planPattern(
  planner: Planner,
  cron: string,
  words: Recurrence | null,
  { timezone, mode }: ScheduleValues,
) {
  if (cron === '') return fail({ cron: [planner.context.texts.taskForm.enterPattern] });
  const schedule = {
    scheduledFor: planner.context.now.toISOString(),
    recurrence: 'daily',
    recurrencePattern: cron,
    interval: 1,
    timezone,
  } as const;
  const plan = await previewSchedule(planner, words, cron, schedule);
  const unpaused = { ...planner, limits: { ...planner.limits, pausedUntil: null } };
  const isPaused = planner.limits.pausedUntil !== null;
  const [first] = isPaused ? (await previewSchedule(unpaused, words, cron, schedule)).runs : plan.runs;
  if (first && plan.schedule) return { ...plan, schedule: { ...schedule, scheduledFor: first.at } };
  const { cron: pattern, ...others } = plan.problems;
  return mode === 'cron' || !pattern ? plan : { ...plan, problems: { ...others, every: pattern } };
}

async function previewSchedule(
  { context, limits }: Planner,
  words: Recurrence | null,
  cron: string | null,
  schedule: Schedule,
): Promise<Plan> {
  const result = await context.actions.previewRuns(context.session, { ...schedule, ...limits, count: SHOWN_RUNS });
  if (result.success) {
    const { occurrences } = result.data;
    return { schedule, words, cron, runs: occurrences, problems: {}, isStored: false };
  }
  if (result.code !== undefined) unwrap(result);
  const { taskForm } = context.texts;
  const { recurrencePattern, scheduledFor, timezone, ...others } = result.code === undefined ? result.details : {};
  return fail(
    {
      ...nameFields(others, context.texts),
      ...(recurrencePattern && {
        cron: recurrencePattern.map((text) => translateApiMessage(text, context.texts)),
      }),
      ...(scheduledFor && { date: [taskForm.firstInPast] }),
      ...(timezone && { timezone: [taskForm.chooseZone] }),
    },
    words,
    cron,
  );
}

/** A task that has ended has no next runs, and may be saved without new ones. */
async function planStored(planner: Planner, task: TaskSchedule): Promise<Plan> {
  const { scheduledFor, recurrence, recurrencePattern, interval, timezone } = task;
  const words = toRecurrence(task);
  const cron = recurrencePattern ?? (words && formatCron(words));
  const stored = { scheduledFor, recurrence, recurrencePattern, ...(interval && { interval }), timezone };
  const plan = await previewSchedule(planner, words, cron, stored);
  return { ...plan, problems: {}, isStored: true };
}

/** Compares the fields that count. */
function isSameSchedule(a: ScheduleValues, b: ScheduleValues, texts: Texts): boolean {
  if (a.timezone !== b.timezone) return false;
  if (a.mode === 'cron') return a.cron === b.cron && b.cron !== '';
  if (b.mode === 'cron') return false;
  const [words, others] = [readRecurrence(a, texts), readRecurrence(b, texts)];
  const isDated = a.every === 'once' || a.interval !== '1';
  const isSameDay = !isDated || (a.date === b.date && a.at.slice(0, 5) === b.at);
  return isSameDay && JSON.stringify(words) === JSON.stringify(others);
}

/** Whether a pattern has the words of the stored one, so that the first run is the same. */
function isRespelled(values: ScheduleValues, stored: ScheduleValues): boolean {
  if (values.mode !== 'cron' || values.timezone !== stored.timezone) return false;
  const words = parseCron(values.cron);
  return words !== null && JSON.stringify(words) === JSON.stringify(parseCron(stored.cron));
}

/** Such as `Weekdays at 02:30`; the pattern where there are no words. */
export const describePlan = ({ words, cron }: Pick<Plan, 'words' | 'cron'>, texts: Texts): string =>
  words ? describeRecurrence(words, texts) : (cron ?? '');
