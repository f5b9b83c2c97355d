import type { WebActionData } from '@carillon/contract/actions/web/index';
import type { PlannedFate } from '@carillon/contract/actions/web/task-list';
import type { Fate } from '../../parts/fates.ts';

/** The sign of each fate in the ledger. */
export const SIGNS: Record<PlannedFate, Fate> = {
  ran: 'ran',
  late: 'late',
  running: 'running',
  failed: 'failed',
  skipped_overlap: 'skipped',
  missed: 'missed',
  over_quota: 'quota',
};

export const FATE_WORDS: Record<PlannedFate, string> = {
  ran: 'Ran',
  late: 'Ran late',
  running: 'Running',
  failed: 'Failed',
  skipped_overlap: 'Skipped',
  missed: 'Missed',
  over_quota: 'Over quota',
};

export interface Outcome {
  fate: Fate;
  text: string;
  at: string;
}

type Row = WebActionData<'getTaskList'>['tasks'][number];
type Run = Pick<NonNullable<Row['lastRun']>, 'status' | 'trigger' | 'errorCode'>;

/** The state of a run as a sign with its word. */
export function describeRun({ status, trigger, errorCode }: Run): Pick<Outcome, 'fate' | 'text'> {
  switch (status) {
    case 'pending':
      return { fate: 'waiting', text: trigger === 'retry' ? 'Waits to try again' : 'Waiting' };
    case 'running':
      return { fate: 'running', text: 'Running' };
    case 'completed':
      return { fate: 'ran', text: 'Ran' };
    case 'failed':
      return errorCode === 'QUOTA_EXCEEDED'
        ? { fate: 'quota', text: 'Over quota' }
        : { fate: 'failed', text: 'Failed' };
  }
}

/** What happened last: a run, or a planned run that did not take place; null if neither. */
export function describeLast({ lastRun, lastPlanned }: Pick<Row, 'lastRun' | 'lastPlanned'>): Outcome | null {
  if (lastPlanned) {
    const { fate, plannedFor } = lastPlanned;
    const hasNoRun = ['skipped_overlap', 'missed', 'over_quota'].includes(fate);
    const isLatest = lastRun === null || new Date(lastRun.at) <= new Date(plannedFor);
    const isLate = fate === 'late' && lastRun?.status === 'completed' && isSame(lastRun.plannedFor, plannedFor);
    if (hasNoRun && isLatest) return { fate: SIGNS[fate], text: FATE_WORDS[fate], at: plannedFor };
    if (isLate) return { fate: 'late', text: FATE_WORDS.late, at: lastRun.at };
  }
  return lastRun && { ...describeRun(lastRun), at: lastRun.at };
}

const isSame = (a: string | null, b: string) => a !== null && new Date(a).getTime() === new Date(b).getTime();
