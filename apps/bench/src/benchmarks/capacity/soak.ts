import { setTimeout as delay } from 'node:timers/promises';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { insertTasks, insertUsers, setDue } from '../../../../../test/system/users.ts';
import type { Benchmark, Comparison } from '../../benchmark.ts';
import { install } from '../../environment/installation.ts';
import { readMemoryMb } from '../../environment/resources.ts';
import { waitForRuns } from '../due-tasks.ts';

/** Half of what two cores carry when the runs are spread evenly: see docs/operating/sizing.md. */
const PER_SECOND = 75;
const TASKS_EACH = 3;
const TABLES = ['executions_live', 'tasks', 'usage_counters', 'event_positions'];
/** The last part of the time is compared with the second one; the first is the warm-up. */
const PARTS = 10;
const AIMS = { memory: 1.2, size: 1.5, lateness: 1.5 };

interface Minute {
  memoryMb: number;
  sizeMb: number;
  /** The part of the updates that changes no index. */
  hotPercent: number;
  xminAge: number;
  lateP99Ms: number;
}

export const soak: Benchmark = {
  about: `${PER_SECOND} planned runs a second, half load, for --minutes: memory, tables and lateness at the end, compared with the beginning`,
  async run(stack, environment) {
    const { quick, minutes } = environment;
    const minuteMs = quick ? 1000 : 60_000;
    const count = (PER_SECOND * minuteMs) / 1000;
    const { db, api, jwtSecret } = await install(stack, environment, { core: null });
    await insertUsers(db, { count: count / TASKS_EACH, jwtSecret });
    await insertTasks(db, TASKS_EACH);
    const measured: Minute[] = [];
    let before = await readUpdates(db);
    for (let minute = 1; minute <= (quick ? PARTS : minutes); minute++) {
      const from = new Date(Date.now() + 1000);
      // Each task is due once in each minute.
      await setDue(db, from, { intervalMs: minuteMs / count });
      await delay(from.getTime() + minuteMs - Date.now());
      await waitForRuns(db, { timeoutMs: 60_000, pollMs: 100 });
      const after = await readUpdates(db);
      const hotPercent = ((after.hot - before.hot) / Math.max(1, after.all - before.all)) * 100;
      before = after;
      const lateP99Ms = await readLateness(db, from);
      measured.push({ memoryMb: readMemoryMb(api.pid), ...(await readTables(db)), hotPercent, lateP99Ms });
      console.log(`  minute ${minute}: ${JSON.stringify(measured.at(-1))}`);
    }
    return toComparisons(measured);
  },
};

function toComparisons(measured: readonly Minute[]): Comparison[] {
  const part = Math.max(1, Math.floor(measured.length / PARTS));
  const compare = (what: string, unit: string, field: keyof Minute, atMost?: number): Comparison => ({
    what,
    unit,
    values: measured.slice(-part).map((minute) => minute[field]),
    baseline: { name: 'the beginning', values: measured.slice(part, 2 * part).map((minute) => minute[field]) },
    ...(atMost !== undefined && { aim: { atMost } }),
    better: field === 'hotPercent' ? 'higher' : 'lower',
  });
  return [
    compare('memory of the API process at the end', 'MB', 'memoryMb', AIMS.memory),
    compare(`size of ${TABLES.join(', ')} with their indexes`, 'MB', 'sizeMb', AIMS.size),
    compare('their updates that change no index', '%', 'hotPercent'),
    compare('age of the oldest snapshot', 'transactions', 'xminAge'),
    compare('lateness, p99', 'ms', 'lateP99Ms', AIMS.lateness),
  ];
}

const tables = sql`${`{${TABLES.join(',')}}`}::text[]`;

async function readUpdates(db: Db): Promise<{ all: number; hot: number }> {
  const [row] = await queryRows<{ all: number; hot: number }>(
    db,
    sql`
    select sum(n_tup_upd)::float8 as "all", sum(n_tup_hot_upd)::float8 as hot from pg_stat_user_tables
    where relname = any(${tables})`,
  );
  return row ?? { all: Number.NaN, hot: Number.NaN };
}

async function readTables(db: Db): Promise<Pick<Minute, 'sizeMb' | 'xminAge'>> {
  const [row] = await queryRows<Pick<Minute, 'sizeMb' | 'xminAge'>>(
    db,
    sql`
    select (sum(pg_total_relation_size(oid)) / 1e6)::float8 as size_mb,
      (select coalesce(max(age(backend_xmin)), 0) from pg_stat_activity where pid <> pg_backend_pid())::float8 as xmin_age
    from pg_class where relname = any(${tables})`,
  );
  return row ?? { sizeMb: Number.NaN, xminAge: Number.NaN };
}

async function readLateness(db: Db, from: Date): Promise<number> {
  const since = sql`${from.toISOString()}::timestamptz`;
  const [row] = await queryRows<{ ms: number }>(
    db,
    sql`
    select (extract(epoch from percentile_cont(0.99) within group (order by started_at - planned_for)) * 1000)::float8 as ms
    from executions where completed_at >= ${since} and planned_for >= ${since}`,
  );
  return row?.ms ?? Number.NaN;
}
