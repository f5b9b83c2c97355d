import type { WebActionData } from '../../actions.ts';
import type { RunOutcome } from '../../components/status-icon.ts';
import { describeOutcome } from '../runs/outcomes.ts';

type Row = WebActionData<'getTaskList'>['tasks'][number];
type PlannedFate = Row['fates'][number];

/** The sign of each fate in the ledger. */
export const SIGNS: Record<PlannedFate, RunOutcome> = {
  ran: 'ran',
  changed: 'changed',
  late: 'late',
  running: 'running',
  failed: 'failed',
  skipped_overlap: 'skipped',
  missed: 'missed',
  over_quota: 'quota',
  over_budget: 'quota',
  skipped_by_user: 'skipped-by-user',
  cancelled: 'cancelled',
};

export const FATE_WORDS: Record<PlannedFate, string> = {
  ran: 'Ran',
  changed: 'Changed',
  late: 'Ran late',
  running: 'Running',
  failed: 'Failed',
  skipped_overlap: 'Skipped',
  missed: 'Missed',
  over_quota: 'Over quota',
  over_budget: 'Over budget',
  skipped_by_user: 'Skipped by you',
  cancelled: 'Stopped',
};

export interface Outcome {
  outcome: RunOutcome;
  text: string;
  at: string;
}

/** What happened last: a run, or a planned run that did not take place; null if neither. */
export function describeLast({ lastRun, lastPlanned }: Pick<Row, 'lastRun' | 'lastPlanned'>): Outcome | null {
  const { fate = null, plannedFor } = lastPlanned ?? {};
  if (lastRun === null || (hasNoRun(fate) && plannedFor && new Date(lastRun.at) <= new Date(plannedFor))) {
    return fate && plannedFor ? { outcome: SIGNS[fate], text: FATE_WORDS[fate], at: plannedFor } : null;
  }
  const isPlanned = plannedFor !== undefined && isSame(lastRun.plannedFor, plannedFor);
  return { ...describeOutcome({ ...lastRun, fate: isPlanned && fate === 'late' ? 'late' : null }), at: lastRun.at };
}

const WITHOUT_RUN: readonly (PlannedFate | null)[] = [
  'skipped_overlap',
  'skipped_by_user',
  'missed',
  'over_quota',
  'over_budget',
];
const hasNoRun = (fate: PlannedFate | null) => WITHOUT_RUN.includes(fate);

const isSame = (a: string | null, b: string) => a !== null && new Date(a).getTime() === new Date(b).getTime();
