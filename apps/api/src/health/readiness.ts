import type { Readiness } from '@carillon/contract/health';
import { isSchemaCurrent } from '@carillon/db/schema-version';
import type { Context } from '../context.ts';
import { cached } from '../telemetry/cached.ts';

/**
 * Returns a function that tells whether the process may be given requests, and which check fails. It never throws, and
 * answers within the deadline of a statement, 4 s. That the process stops counts at once.
 */
export function watchReadiness(ctx: Context): () => Promise<Readiness> {
  // Anybody may ask as often as they like: for all of them together there is one statement at a time.
  const askDatabase = cached(0, () => checkDatabase(ctx));
  return async () => {
    const { database, migrations } = await askDatabase();
    const checks = { database, migrations, worker: checkWorker(ctx) };
    const isReady = Object.values(checks).every((found) => found === 'ok');
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
