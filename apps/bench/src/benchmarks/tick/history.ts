import { loadConfig } from '@carillon/api/lib/config/config';
import { openContext } from '@carillon/api/open-context';
import { encodeCursor } from '@carillon/api/platform/queries/pages';
import { dropExpiredExecutions } from '@carillon/api/product/retention/partitions/drop-executions';
import { HISTORY } from '@carillon/api/product/retention/partitions/execution-partitions';
import { type Db, queryRows } from '@carillon/db';
import { listPartitions } from '@carillon/db/partitions';
import { sql } from 'drizzle-orm';
import { insertUsers } from '../../../../../test/system/users.ts';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../../benchmark.ts';
import { fillExecutions, fillTasks } from '../../environment/fill-tables.ts';
import { type Installation, install } from '../../environment/installation.ts';
import { formatNumber, median } from '../../statistics.ts';
import { DUE, prepareTicks } from './measure-tick.ts';

const TASKS = 10_000;
/** The executions of the largest history, for each row of the largest table of the other benchmarks. */
const PER_ROW = 10;
const TICKS = 10;
const REQUESTS = 300;
const LIMIT = 20;
const ROWS_PER_DELETE = 1000;

interface Figures {
  tick: number;
  first: number;
  deep: number;
}

export const history: Benchmark = {
  about: 'the scheduler trigger, pages of executions and pruning with a year of executions in partitions',
  async run(stack, environment) {
    const { quick, rounds } = environment;
    const old = quick ? 20_000 : environment.largest * PER_ROW;
    const small = await prepare(stack, environment, quick ? 2000 : 100_000);
    const large = await prepare(stack, environment, old);
    const results = await measureInRounds(
      rounds,
      { small: small.measure, large: large.measure },
      ({ tick, first, deep }) => [tick, first, deep].map((ms) => `${formatNumber(ms)} ms`).join(', '),
    );
    const pruned = await prune(large, environment);
    const among = `among ${old.toLocaleString('en-US')} executions`;
    const compare = (what: string, pick: (figures: Figures) => number, note: string): Comparison => ({
      what: `${what} ${among}`,
      unit: 'ms',
      values: results.large.map(pick),
      baseline: { name: `Carillon among ${quick ? '2,000' : '100,000'} executions`, values: results.small.map(pick) },
      aim: { atMost: 1.5 },
      note,
    });
    return [
      compare(`tick with ${DUE} due`, ({ tick }) => tick, `each round is the median of ${quick ? 2 : TICKS} ticks`),
      compare('GET /api/executions, first page', ({ first }) => first, 'the executions of one user, in 12 partitions'),
      compare('GET /api/executions by cursor', ({ deep }) => deep, 'the cursor is in the middle of the executions'),
      {
        what: `prune the oldest of 12 partitions ${among}`,
        unit: 'ms',
        values: [pruned.dropMs],
        baseline: {
          name: `deleting the rows of another partition, ${ROWS_PER_DELETE} at a time, without their counters`,
          values: [pruned.deleteMs],
        },
        note: `${pruned.rows.toLocaleString('en-US')} executions are counted by user and day and dropped; the slowest of the requests meanwhile took ${formatNumber(pruned.slowestMs)} ms`,
      },
    ];
  },
};

interface Prepared {
  installation: Installation;
  token: string;
  measure(): Promise<Figures>;
}

async function prepare(stack: AsyncDisposableStack, environment: Environment, old: number): Promise<Prepared> {
  const installation = await install(stack, environment, {
    scheduler: false,
    // Only the benchmark prunes.
    apiEnv: { DATABASE_POOL: '10', RETENTION_EXECUTIONS_DAYS: '0' },
  });
  const { db, databaseUrl, jwtSecret } = installation;
  const [owner] = await insertUsers(db, { count: 1, jwtSecret });
  if (!owner) throw new Error('No user was inserted.');
  await fillTasks(databaseUrl, environment.quick ? 1000 : TASKS, owner.id);
  await fillExecutions(databaseUrl, old);
  await db.execute(sql`vacuum analyze`);
  const tick = prepareTicks(installation, environment.quick ? 2 : TICKS);
  const [middle] = await queryRows<{ id: number }>(
    db,
    sql`select ((min(id)::bigint + max(id)) / 2)::int as id from executions`,
  );
  const path = `/api/executions?limit=${LIMIT}`;
  const deepPath = `${path}&cursor=${encodeCursor(middle?.id ?? 0)}`;
  return {
    installation,
    token: owner.token,
    measure: async () => ({
      tick: await tick(),
      first: await measureReads(installation.apiUrl, path, owner.token, environment),
      deep: await measureReads(installation.apiUrl, deepPath, owner.token, environment),
    }),
  };
}

async function measureReads(apiUrl: string, path: string, token: string, { quick }: Environment): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < (quick ? 5 : REQUESTS); n++) times.push(await read(`${apiUrl}${path}`, token));
  return median(times);
}

async function read(url: string, token: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`);
  return performance.now() - startedAt;
}

/** Drops the oldest partition while the API answers requests, then deletes the rows of the next one. */
async function prune({ installation, token }: Prepared, { server }: Environment) {
  const { db, databaseUrl, apiUrl } = installation;
  const config = loadConfig({ DATABASE_URL: databaseUrl, DATA_DIR: server.folder, LOG_LEVEL: 'silent' });
  const { ctx, close } = await openContext(config, databaseUrl);
  let isPruning = true;
  let slowestMs = 0;
  const requests = (async () => {
    while (isPruning) slowestMs = Math.max(slowestMs, await read(`${apiUrl}/api/executions?limit=${LIMIT}`, token));
  })();
  try {
    // The first one is that of a new database, and empty.
    const [, first, second] = await listPartitions(db, HISTORY);
    if (!first || !second) throw new Error('There are no partitions.');
    const drop = dropExpiredExecutions(await findEnd(db, first.name));
    const startedAt = performance.now();
    let rows = 0;
    while ((await listPartitions(db, HISTORY))[0]?.name !== second.name) rows += (await drop(ctx, null)).deleted;
    const dropMs = performance.now() - startedAt;
    isPruning = false;
    await requests;
    const deletedAt = performance.now();
    await deleteRows(db, second.name, rows);
    return { rows, dropMs, slowestMs, deleteMs: performance.now() - deletedAt };
  } finally {
    isPruning = false;
    await close();
  }
}

/** Just after its last execution ended. */
async function findEnd(db: Db, partition: string): Promise<Date> {
  const [row] = await queryRows<{ at: string }>(
    db,
    sql`select completed_at + interval '1 ms' as at from ${sql.identifier(partition)} order by id desc limit 1`,
  );
  return new Date(row?.at ?? 0);
}

async function deleteRows(db: Db, partition: string, count: number) {
  const table = sql.identifier(partition);
  let after = 0;
  for (let deleted = 0; deleted < count; deleted += ROWS_PER_DELETE) {
    const rows = await queryRows<{ id: number }>(
      db,
      sql`
      delete from ${table} where id = any(array(
        select id from ${table} where id > ${after} order by id limit ${ROWS_PER_DELETE})) returning id`,
    );
    if (rows.length === 0) return;
    after = Math.max(...rows.map(({ id }) => id));
  }
}
