import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import type { RunOutcome } from '../../components/status-icon.ts';
import { describeOutcome } from '../runs/outcomes.ts';

type Row = WebActionData<'getTaskList'>['tasks'][number];
type PlannedFate = Row['fates'][number];

/** The sign of each outcome in the ledger. */
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
  unchanged: 'unchanged',
};

/** The entry of the catalog for each outcome. */
const FATE_WORDS = {
  ran: 'ran',
  changed: 'changed',
  late: 'late',
  running: 'running',
  failed: 'failed',
  skipped_overlap: 'skipped',
  missed: 'missed',
  over_quota: 'overQuota',
  over_budget: 'overBudget',
  skipped_by_user: 'skippedByUser',
  cancelled: 'cancelled',
  unchanged: 'unchanged',
} as const;

export const describeFate = ({ outcomes }: Texts, fate: PlannedFate): string => outcomes[FATE_WORDS[fate]];

export interface Outcome {
  outcome: RunOutcome;
  text: string;
  at: string;
}

/** The last run, or the last planned run that never started; null if there is neither. */
export function describeLast(
  texts: Texts,
  { lastRun, lastPlanned }: Pick<Row, 'lastRun' | 'lastPlanned'>,
): Outcome | null {
  const { fate = null, plannedFor } = lastPlanned ?? {};
  if (lastRun === null || (hasNoRun(fate) && plannedFor && new Date(lastRun.at) <= new Date(plannedFor))) {
    return fate && plannedFor ? { outcome: SIGNS[fate], text: describeFate(texts, fate), at: plannedFor } : null;
  }
  const isPlanned = plannedFor !== undefined && isSame(lastRun.plannedFor, plannedFor);
  return {
    ...describeOutcome(texts, { ...lastRun, fate: isPlanned && fate === 'late' ? 'late' : null }),
    at: lastRun.at,
  };
}

const WITHOUT_RUN: readonly (PlannedFate | null)[] = [
  'skipped_overlap',
  'skipped_by_user',
  'missed',
  'over_quota',
  'over_budget',
  'unchanged',
];
const hasNoRun = (fate: PlannedFate | null) => WITHOUT_RUN.includes(fate);

const isSame = (a: string | null, b: string) => a !== null && new Date(a).getTime() === new Date(b).getTime();
