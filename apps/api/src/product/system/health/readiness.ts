import type { Readiness } from '@carillon/contract/health';
import { readDatabaseState } from '@carillon/db/schema-version';
import { describeTemporaryOutage } from '@carillon/db/temporary-outage';
import type { Context } from '../../../context.ts';
import { cached } from '../../../lib/telemetry/cached.ts';
import { isSchedulerSilent } from './silent-scheduler.ts';

type DatabaseChecks = Pick<Readiness['checks'], 'database' | 'migrations' | 'scheduler'> & Pick<Readiness, 'reason'>;

/** The returned function never rejects, and answers within the statement timeout of 4 s. */
export function createReadinessCheck(ctx: Context): () => Promise<Readiness> {
  // The endpoint is public and unlimited: concurrent callers share one statement.
  const startedAt = ctx.now();
  const readDatabase = cached(0, () => checkDatabase(ctx, startedAt));
  return async () => {
    const isStarting = ctx.waitingFor !== null;
    const { reason, ...ofDatabase } = isStarting ? waitForDatabase(ctx) : await readDatabase();
    const { scheduler, ...required } = {
      ...ofDatabase,
      worker: isStarting ? ('starting' as const) : checkWorker(ctx),
    };
    const checks = { ...required, scheduler };
    // A process that the load balancer takes out could not be called by the scheduler either.
    const isReady = Object.values(required).every((result) => result === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks, ...(reason !== undefined && { reason }) };
  };
}

const waitForDatabase = ({ waitingFor }: Context): DatabaseChecks => ({
  database: 'failed',
  migrations: 'unknown',
  scheduler: 'unknown',
  reason: `Waiting for the database: ${waitingFor}.`,
});

async function checkDatabase({ db, log, now }: Context, startedAt: Date): Promise<DatabaseChecks> {
  try {
    const { isCurrent, isReadOnly, schedulerCalledAt: calledAt } = await readDatabaseState(db);
    const migrations = isCurrent ? 'ok' : 'behind';
    const isSilent = calledAt !== null && isSchedulerSilent(calledAt, startedAt, now());
    const scheduler = calledAt === null ? 'unknown' : isSilent ? 'silent' : 'ok';
    if (!isReadOnly) return { database: 'ok', migrations, scheduler };
    log.warn('not ready: the database is read-only');
    return { database: 'read_only', migrations, scheduler, reason: 'The database is read-only, like a standby.' };
  } catch (error) {
    log.warn({ err: error }, 'not ready: the database does not answer');
    const reason = describeTemporaryOutage(error) ?? 'it cannot be used';
    return {
      database: 'failed',
      migrations: 'unknown',
      scheduler: 'unknown',
      reason: `The database is not available: ${reason}.`,
    };
  }
}

function checkWorker({ worker }: Context): Readiness['checks']['worker'] {
  if (worker.stopping.aborted) return 'stopping';
  return worker.isAlive() ? 'ok' : 'stuck';
}
