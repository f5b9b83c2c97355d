import type { WebActionData } from '../../actions.ts';
import { type Fate, renderFate } from '../../components/fates.ts';
import type { Html } from '../../html.ts';

export type Run = WebActionData<'getRun'>['run'];
export type RunOfList = WebActionData<'listRuns'>['runs'][number];

type Ended = Pick<RunOfList, 'status' | 'fate' | 'errorCode' | 'attempt' | 'isChanged'>;

/** What became of a run, as a sign and a word. A run that a quota refused has never started. */
export function describeOutcome({ status, fate, errorCode, attempt, isChanged }: Ended): { fate: Fate; text: string } {
  switch (status) {
    case 'pending':
      return { fate: 'waiting', text: attempt > 1 ? 'Waiting to try again' : 'Waiting' };
    case 'running':
      return { fate: 'running', text: 'Running' };
    case 'completed':
      if (isChanged) return { fate: 'changed', text: 'Changed' };
      return fate === 'late' ? { fate: 'late', text: 'Ran late' } : { fate: 'ran', text: 'Ran' };
    case 'failed':
      if (errorCode === 'CANCELLED') return { fate: 'cancelled', text: 'Stopped' };
      return fate === 'over_quota' || errorCode === 'QUOTA_EXCEEDED'
        ? { fate: 'quota', text: 'Over quota' }
        : { fate: 'failed', text: 'Failed' };
  }
}

export function renderOutcome(run: Ended): Html {
  const { fate, text } = describeOutcome(run);
  return renderFate(fate, text);
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
