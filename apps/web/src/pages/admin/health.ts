import type { WebActionData } from '../../actions.ts';
import { formatCount, formatDuration } from '../../components/format.ts';

/** A due run waits longer only if the scheduler or the worker does not do its work. */
const LATE_MS = 60_000;
const MANY_FAILED = 0.1;
const MIN_ENDED = 10;

const WORKER = {
  ok: null,
  starting: 'The worker is starting: runs begin when it is ready.',
  stuck: 'The worker does not respond: no run begins. Restart this process.',
  stopping: 'This process is stopping: another one begins the next runs.',
} as const;

/** What is wrong with the service, in sentences, worst first. */
export function describeTroubles({
  readiness: { checks, reason },
  isMaintenance,
  queues,
  hours,
}: WebActionData<'getServiceOverview'>): string[] {
  const completed = hours.reduce((sum, hour) => sum + hour.completed, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const troubles = [
    checks.database !== 'ok' && (reason ?? 'The database cannot be used.'),
    checks.migrations === 'behind' &&
      'The schema of the database is older than this version. Restart the service to migrate it.',
    WORKER[checks.worker],
    queues.oldestDueMs > LATE_MS &&
      `A run is due for ${formatDuration(queues.oldestDueMs)} and has not begun. Check that the scheduler runs.`,
    checks.scheduler === 'silent' &&
      'The scheduler has not called for two minutes. Check that it runs; until it does, runs start up to a minute late.',
    completed + failed >= MIN_ENDED &&
      failed / (completed + failed) > MANY_FAILED &&
      `${formatCount(failed)} of ${formatCount(completed + failed)} runs failed in the last 24 hours.`,
    isMaintenance && 'Maintenance is on: only administrators can use the service.',
  ];
  return troubles.filter((text): text is string => typeof text === 'string');
}
