import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '@carillon/api/lib/config/config';
import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
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
export async function checkReplicas(primary: Db, config: Settings, texts: DoctorTexts): Promise<Finding[]> {
  if (config.databaseReadUrl === null) return [];
  return Promise.all(listReadServers(config.databaseReadUrl).map((url) => checkReplica(primary, url, config, texts)));
}

async function checkReplica(primary: Db, url: string, config: Settings, texts: DoctorTexts): Promise<Finding> {
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
      return problem(texts.notItsStandby(host), texts.correctReadUrl);
    }
    if (!isStandby) {
      return warning(texts.isPrimary(host), texts.useStandbys);
    }
    return describeLag(host, await measureLag(db, expected, config.databaseReadMaxLagMs), config, texts);
  } catch (error) {
    const { message, fix } = explainDatabaseError(error, texts);
    const named = (text: string) => text.replaceAll('DATABASE_URL', 'DATABASE_READ_URL');
    return warning(texts.notRead(host, named(message)), named(fix ?? ''));
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

function describeLag(
  host: string,
  lagMs: number | null,
  { databaseReadMaxLagMs: maxLagMs }: Settings,
  texts: DoctorTexts,
): Finding {
  if (lagMs !== null) return ok(texts.standbyFollows(host, Math.max(lagMs, POLL_MS)));
  return warning(texts.standbyLags(host, maxLagMs), texts.findDelay);
}

async function readSample(db: Db): Promise<ServerSample & { isStandby: boolean }> {
  const [sample] = await queryRows<ServerSample & { isStandby: boolean }>(
    db,
    sql`select s.*, pg_is_in_recovery() as is_standby from (${sql.raw(SAMPLE)}) s`,
  );
  if (!sample) throw new Error('The statement returned no row.');
  return sample;
}
