import type { WebActionData } from '../../actions.ts';
import { type RunOutcome, renderOutcome } from '../../components/status-icon.ts';
import type { Html } from '../../html.ts';

export type Run = WebActionData<'getRun'>['run'];
export type RunOfList = WebActionData<'listRuns'>['runs'][number];

type Ended = Pick<RunOfList, 'status' | 'fate' | 'errorCode' | 'attempt' | 'isChanged'>;

/** The outcome of a run, as a sign and a word. A run that a quota refused has never started. */
export function describeOutcome({ status, fate, errorCode, attempt, isChanged }: Ended): {
  outcome: RunOutcome;
  text: string;
} {
  switch (status) {
    case 'pending':
      return { outcome: 'waiting', text: attempt > 1 ? 'Waiting to try again' : 'Waiting' };
    case 'running':
      return { outcome: 'running', text: 'Running' };
    case 'completed':
      if (isChanged) return { outcome: 'changed', text: 'Changed' };
      return fate === 'late' ? { outcome: 'late', text: 'Ran late' } : { outcome: 'ran', text: 'Ran' };
    case 'failed':
      if (errorCode === 'CANCELLED') return { outcome: 'cancelled', text: 'Stopped' };
      return fate === 'over_quota' || errorCode === 'QUOTA_EXCEEDED'
        ? { outcome: 'quota', text: 'Over quota' }
        : { outcome: 'failed', text: 'Failed' };
  }
}

export function renderRunOutcome(run: Ended): Html {
  const { outcome, text } = describeOutcome(run);
  return renderOutcome(outcome, text);
}

/** The planned instant; of a run on demand, when it was asked for. */
export const timeOf = ({ plannedFor, createdAt }: { plannedFor: string | null; createdAt: string }): Date =>
  new Date(plannedFor ?? createdAt);

export const TRIGGERS = {
  schedule: 'By the schedule',
  manual: 'By hand',
  inbound: 'By an inbound webhook',
  retry: 'Again, after a failure',
  backfill: 'Filled in later',
};
