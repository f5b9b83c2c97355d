import { existsSync } from 'node:fs';
import { type Config, loadConfig } from '@carillon/api/config';
import { sqlState } from '@carillon/api/context';
import { explainStartFailure } from '@carillon/api/start-failure';
import { findWrongTotals } from '@carillon/api/uploads/verify';
import { findWrongCounters } from '@carillon/api/usage/verify';
import { connect } from '@carillon/db';
import { startEmbeddedPostgres } from '@carillon/db/embedded';

/** The ledger of a large installation is long; nobody waits for this but the operator. */
const DEADLINE_MS = 10 * 60_000;
const UNDEFINED_TABLE = '42P01';

/**
 * `pnpm usage:verify`: adds up the usage ledger and the uploads anew and compares them with the counters that the quotas
 * go by. Can be run while the service works. Exits with 0 when they agree, with 1 when they differ, and with 2 when it
 * cannot tell.
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
  const counters = await findWrongCounters(db);
  for (const { userId, period, counted, due } of counters) {
    tell(`User ${userId}, ${period}`, ['executions', 'tokens', 'tokensReserved'], counted, due);
  }
  const totals = await findWrongTotals(db);
  for (const { userId, counted, due } of totals) tell(`User ${userId}, uploads`, ['bytes', 'files'], counted, due);

  if (counters.length === 0) console.log('All usage counters are the sum of the ledger and of what runs.');
  else console.log(`${counters.length} usage counters differ from the ledger.`);
  if (totals.length === 0) console.log('All totals of storage are the sum of the uploads.');
  else console.log(`${totals.length} totals of storage differ from the uploads.`);
  return counters.length + totals.length === 0 ? 0 : 1;
}

/** One line with each figure that differs. */
function tell<K extends string>(what: string, names: readonly K[], counted: Record<K, number>, due: Record<K, number>) {
  const differences = names
    .filter((name) => counted[name] !== due[name])
    .map((name) => `${name} ${counted[name]} instead of ${due[name]}`);
  console.log(`${what}: ${differences.join(', ')}`);
}
