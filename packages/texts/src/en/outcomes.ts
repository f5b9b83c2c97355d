import { formats } from './formats.ts';

/** What happens to a run, in one or two words. */
export const outcomes = {
  ran: 'Completed',
  changed: 'Changed',
  late: 'Late',
  running: 'Running',
  waiting: 'Waiting',
  waitingToRetry: 'Waiting to retry',
  failed: 'Failed',
  missed: 'Missed',
  skipped: 'Skipped',
  skippedByUser: 'Skipped by you',
  overQuota: 'Over quota',
  overBudget: 'Over budget',
  cancelled: 'Stopped',
  unchanged: 'Unchanged',

  /** After a number, and in the key to the strip. */
  signs: {
    ran: 'on time',
    changed: 'changed',
    late: 'late',
    running: 'running',
    waiting: 'waiting',
    paused: 'paused',
    skipped: 'skipped (still running)',
    'skipped-by-user': 'skipped by you',
    failed: 'failed',
    missed: 'missed',
    quota: 'over quota',
    cancelled: 'stopped',
    unchanged: 'unchanged',
  },
  noPlannedRun: 'No planned run yet',
  strip: (runs: number, counts: string) =>
    `${runs === 1 ? 'Last planned run' : `Last ${formats.number(runs)} planned runs`}: ${counts}`,
  key: 'Key to the strip',

  startedBy: {
    schedule: 'schedule',
    manual: 'you',
    inbound: 'inbound webhook',
    retry: 'retry after a failure',
    backfill: 'you, for a missed run',
  },
  attempt: (attempt: number) => `attempt ${formats.number(attempt)}`,
};
