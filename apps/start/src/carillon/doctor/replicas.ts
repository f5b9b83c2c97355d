import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '@carillon/api/lib/config/config';
import { type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { connect, type Db, queryRows } from '@carillon/db';
import { listReadServers } from '@carillon/db/database-url';
import { SAMPLE, type ServerSample } from '@carillon/db/replica/server';
import { sql } from 'drizzle-orm';
import { explainDatabaseError } from './database-errors.ts';

const { ok, warning, problem } = findingsFor('read replicas');
const DEADLINE_MS = 5000;
const POLL_MS = 20;

type Settings = Pick<Config, 'databaseReadUrl' | 'databaseReadMaxLagMs' | 'databasePrepare'>;

/** Checks that each server of DATABASE_READ_URL follows the primary, and how far behind it is. */
export async function checkReplicas(primary: Db, config: Settings): Promise<Finding[]> {
  if (config.databaseReadUrl === null) return [];
  return Promise.all(listReadServers(config.databaseReadUrl).map((url) => checkReplica(primary, url, config)));
}

async function checkReplica(primary: Db, url: string, config: Settings): Promise<Finding> {
  const { host } = new URL(url);
  const { db, close } = connect(url, {
    max: 1,
    prepare: config.databasePrepare,
    deadlineMs: DEADLINE_MS,
    applicationName: 'carillon doctor',
  });
  try {
    const [{ isStandby, ...found }, expected] = await Promise.all([readSample(db), readSample(primary)]);
    if (found.cluster !== expected.cluster || found.database !== expected.database) {
      return problem(
        `${host} is not a standby of the database at DATABASE_URL.`,
        'Correct DATABASE_READ_URL. Nothing is read from this server.',
      );
    }
    if (!isStandby) {
      return warning(
        `${host} is the primary, which answers these reads anyway.`,
        'Set DATABASE_READ_URL to the standbys.',
      );
    }
    return describeLag(host, await measureLag(db, expected, config.databaseReadMaxLagMs), config);
  } catch (error) {
    const { message, fix } = explainDatabaseError(error);
    const named = (text: string) => text.replaceAll('DATABASE_URL', 'DATABASE_READ_URL');
    return warning(`${host} is not read, and the primary answers instead. ${named(message)}`, named(fix ?? ''));
  } finally {
    await close();
  }
}

/** In ms; null if it is more than the maximum. */
async function measureLag(db: Db, primary: ServerSample, maxLagMs: number): Promise<number | null> {
  const since = performance.now();
  for (;;) {
    const { logPosition } = await readSample(db);
    const lagMs = Math.round(performance.now() - since);
    if (logPosition >= primary.logPosition) return lagMs;
    if (lagMs > maxLagMs) return null;
    await delay(POLL_MS);
  }
}

function describeLag(host: string, lagMs: number | null, { databaseReadMaxLagMs: maxLagMs }: Settings): Finding {
  if (lagMs !== null) return ok(`${host} is a standby and less than ${Math.max(lagMs, POLL_MS)} ms behind`);
  return warning(
    `${host} is more than ${maxLagMs} ms behind: the primary answers its reads.`,
    'Find out what delays its replay, such as a slow disk or long queries, or raise DATABASE_READ_MAX_LAG_MS.',
  );
}

async function readSample(db: Db): Promise<ServerSample & { isStandby: boolean }> {
  const [sample] = await queryRows<ServerSample & { isStandby: boolean }>(
    db,
    sql`select s.*, pg_is_in_recovery() as is_standby from (${sql.raw(SAMPLE)}) s`,
  );
  if (!sample) throw new Error('The statement returned no row.');
  return sample;
}
