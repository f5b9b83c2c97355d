import type { Readiness } from '@carillon/contract/health';
import { isSchemaCurrent } from '@carillon/db/schema-version';
import type { Context } from '../context.ts';
import { cached } from '../telemetry/cached.ts';

/** The returned function never rejects, and answers within the statement timeout of 4 s. */
export function createReadinessCheck(ctx: Context): () => Promise<Readiness> {
  // The endpoint is public and unlimited: concurrent callers share one statement.
  const readDatabase = cached(0, () => checkDatabase(ctx));
  return async () => {
    const { database, migrations } = await readDatabase();
    const checks = { database, migrations, worker: checkWorker(ctx) };
    const isReady = Object.values(checks).every((result) => result === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', checks };
  };
}

async function checkDatabase({ db, log }: Context): Promise<Pick<Readiness['checks'], 'database' | 'migrations'>> {
  try {
    return { database: 'ok', migrations: (await isSchemaCurrent(db)) ? 'ok' : 'behind' };
  } catch (error) {
    log.warn({ err: error }, 'not ready: the database does not answer');
    return { database: 'failed', migrations: 'unknown' };
  }
}

function checkWorker({ worker }: Context): Readiness['checks']['worker'] {
  if (worker.stopping.aborted) return 'stopping';
  return worker.isAlive() ? 'ok' : 'stuck';
}
