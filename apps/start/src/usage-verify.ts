import { existsSync } from 'node:fs';
import { type Config, loadConfig } from '@carillon/api/config';
import { sqlState } from '@carillon/api/context';
import { explainStartFailure } from '@carillon/api/start-failure';
import { findWrongCounters } from '@carillon/api/usage/verify';
import { connect } from '@carillon/db';
import { startEmbeddedPostgres } from '@carillon/db/embedded';

/** The ledger of a large installation is long; nobody waits for this but the operator. */
const DEADLINE_MS = 10 * 60_000;
const UNDEFINED_TABLE = '42P01';

/**
 * `pnpm usage:verify`: adds up the usage ledger anew and compares it with the counters that the quotas go by. Can be run
 * while the service works. Exits with 0 when they agree, with 1 when they differ, and with 2 when it cannot tell.
 */
let config: Config | null = null;
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  config = loadConfig(process.env);
  process.exitCode = await verify(config);
} catch (error) {
  const isNew = sqlState(error) === UNDEFINED_TABLE;
  console.error(
    isNew ? 'The database has no tables yet: start Carillon first.' : (explainStartFailure(error, config) ?? error),
  );
  process.exitCode = 2;
}

async function verify({ databaseUrl, dataDir }: Config): Promise<number> {
  await using open = new AsyncDisposableStack();
  const embedded = databaseUrl === null ? await startEmbeddedPostgres({ dataDir }) : null;
  if (embedded) open.defer(embedded.stop);
  const { db, close } = connect(databaseUrl ?? (embedded?.url as string), { max: 1, deadlineMs: DEADLINE_MS });
  open.defer(close);
  const wrong = await findWrongCounters(db);
  for (const { userId, period, counted, due } of wrong) {
    const differences = (['executions', 'tokens', 'tokensReserved'] as const)
      .filter((name) => counted[name] !== due[name])
      .map((name) => `${name} ${counted[name]} instead of ${due[name]}`);
    console.log(`User ${userId}, ${period}: ${differences.join(', ')}`);
  }
  if (wrong.length === 0) console.log('All usage counters are the sum of the ledger and of what runs.');
  else console.log(`${wrong.length} usage counters differ from the ledger.`);
  return wrong.length === 0 ? 0 : 1;
}
