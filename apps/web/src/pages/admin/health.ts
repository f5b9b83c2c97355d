import { DAY_MS } from '@carillon/contract/primitives';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import type { UserPageContext } from '../../page.ts';

/** A due run waits longer only if the scheduler or the worker does not do its work. */
const LATE_MS = 60_000;
const MANY_FAILED = 0.1;
const MIN_ENDED = 10;
/** Admins are notified of it too. */
const MAX_BACKUP_AGE_MS = 7 * DAY_MS;

const WORKER = { ok: null, starting: 'workerStarting', stuck: 'workerStuck', stopping: 'workerStopping' } as const;

export interface Trouble {
  text: string;
  /** Where it is corrected. */
  link?: { href: string; text: string };
}

/** What is wrong with the service, in sentences, worst first. */
export function describeTroubles(overview: WebActionData<'getServiceOverview'>, context: UserPageContext): Trouble[] {
  const { readiness, isMaintenance, queues, hours, failures, installation } = overview;
  const { checks, reason } = readiness;
  const { texts, now } = context;
  const { admin, formats } = texts;
  const worker = WORKER[checks.worker];
  const completed = hours.reduce((sum, hour) => sum + hour.completed, 0);
  const failed = failures.reduce((sum, { runs }) => sum + runs, 0);
  const { lastBackupAt } = installation;
  const isBackupOld = lastBackupAt !== null && now.getTime() - new Date(lastBackupAt).getTime() > MAX_BACKUP_AGE_MS;
  const troubles: (Trouble | string | false | null)[] = [
    checks.database !== 'ok' && (reason ?? admin.databaseFailed),
    checks.migrations === 'behind' && admin.schemaBehind,
    worker && admin[worker],
    queues.oldestDueMs > LATE_MS && admin.runOverdue(formats.duration(queues.oldestDueMs)),
    checks.scheduler === 'silent' && admin.schedulerSilent,
    completed + failed >= MIN_ENDED &&
      failed / (completed + failed) > MANY_FAILED &&
      describeFailures(failures, failed, completed + failed, texts),
    lastBackupAt !== null && isBackupOld && admin.backupOld(formats.momentOn(new Date(lastBackupAt), context)),
    isMaintenance && admin.maintenanceOn,
  ];
  return troubles.flatMap((one) => (one ? [typeof one === 'string' ? { text: one } : one] : []));
}

/** How many runs failed, and why most of them did. */
function describeFailures(
  failures: WebActionData<'getServiceOverview'>['failures'],
  failed: number,
  ended: number,
  { admin, failures: reasons, providers }: Texts,
): Trouble {
  const causes = failures.slice(0, MAX_CAUSES);
  const words = causes.map(({ errorCode, runs, users }) => admin.failedBecause(reasons[errorCode].why, runs, users));
  const isOfProvider = causes.some(({ errorCode }) => OF_PROVIDERS.has(errorCode));
  return {
    text: [admin.manyFailed(failed, ended), ...words].join(' '),
    ...(isOfProvider && { link: { href: '/admin/providers', text: providers.title } }),
  };
}

const MAX_CAUSES = 3;
const OF_PROVIDERS: ReadonlySet<string> = new Set([
  'AUTHENTICATION_FAILED',
  'PROVIDER_UNAVAILABLE',
  'QUOTA_EXCEEDED',
  'RATE_LIMIT_EXCEEDED',
  'UNKNOWN_MODEL',
]);
