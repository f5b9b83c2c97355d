import { type Texts, translateApiMessage } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type RunOutcome, renderOutcome } from '../../components/status-icon.ts';
import type { Html } from '../../html.ts';

export type Run = WebActionData<'getRun'>['run'];
export type RunOfList = WebActionData<'listRuns'>['runs'][number];

type Ended = Pick<RunOfList, 'status' | 'fate' | 'errorCode' | 'attempt' | 'isChanged'>;

/** The outcome of a run, as a sign and a word. A run that a quota refused has never started. */
export function describeOutcome(
  { outcomes }: Texts,
  { status, fate, errorCode, attempt, isChanged }: Ended,
): { outcome: RunOutcome; text: string } {
  switch (status) {
    case 'pending':
      return { outcome: 'waiting', text: attempt > 1 ? outcomes.waitingToRetry : outcomes.waiting };
    case 'running':
      return { outcome: 'running', text: outcomes.running };
    case 'completed':
      if (isChanged) return { outcome: 'changed', text: outcomes.changed };
      return fate === 'late' ? { outcome: 'late', text: outcomes.late } : { outcome: 'ran', text: outcomes.ran };
    case 'failed':
      if (errorCode === 'CANCELLED') return { outcome: 'cancelled', text: outcomes.cancelled };
      return fate === 'over_quota' || errorCode === 'QUOTA_EXCEEDED'
        ? { outcome: 'quota', text: outcomes.overQuota }
        : { outcome: 'failed', text: outcomes.failed };
  }
}

/** Why a run has failed. The outcome of a stopped one says all there is. */
export const describeError = (texts: Texts, { error, errorCode }: Pick<RunOfList, 'error' | 'errorCode'>): string =>
  errorCode === 'CANCELLED' ? '' : translateApiMessage(error ?? '', texts);

export function renderRunOutcome(texts: Texts, run: Ended): Html {
  const { outcome, text } = describeOutcome(texts, run);
  return renderOutcome(outcome, text);
}

/** That a limit cut the answer off, with the limit where the provider counts its tokens. */
export const describeCut = ({ runs, formats }: Texts, { execution: { tokens } }: Run): string =>
  runs.cutOff(tokens === null || tokens.estimated ? null : formats.number(tokens.output));

/** The planned instant; of a run on demand, when it was asked for. */
export const timeOf = ({ plannedFor, createdAt }: { plannedFor: string | null; createdAt: string }): Date =>
  new Date(plannedFor ?? createdAt);
