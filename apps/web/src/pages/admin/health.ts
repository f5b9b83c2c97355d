import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';

/** A due run waits longer only if the scheduler or the worker does not do its work. */
const LATE_MS = 60_000;
const MANY_FAILED = 0.1;
const MIN_ENDED = 10;

const WORKER = { ok: null, starting: 'workerStarting', stuck: 'workerStuck', stopping: 'workerStopping' } as const;

/** What is wrong with the service, in sentences, worst first. */
export function describeTroubles(
  { readiness: { checks, reason }, isMaintenance, queues, hours }: WebActionData<'getServiceOverview'>,
  { admin, formats }: Texts,
): string[] {
  const worker = WORKER[checks.worker];
  const completed = hours.reduce((sum, hour) => sum + hour.completed, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const troubles = [
    checks.database !== 'ok' && (reason ?? admin.databaseFailed),
    checks.migrations === 'behind' && admin.schemaBehind,
    worker && admin[worker],
    queues.oldestDueMs > LATE_MS && admin.runOverdue(formats.duration(queues.oldestDueMs)),
    checks.scheduler === 'silent' && admin.schedulerSilent,
    completed + failed >= MIN_ENDED &&
      failed / (completed + failed) > MANY_FAILED &&
      admin.manyFailed(failed, completed + failed),
    isMaintenance && admin.maintenanceOn,
  ];
  return troubles.filter((text): text is string => typeof text === 'string');
}
