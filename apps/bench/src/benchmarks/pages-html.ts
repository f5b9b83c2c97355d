import { brotliDecompressSync } from 'node:zlib';
import type { Db } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { Client } from 'undici';
import { closeWith } from '../../../../test/system/shutdown.ts';
import { insertUsers } from '../../../../test/system/users.ts';
import { type Benchmark, type Comparison, measureInRounds } from '../benchmark.ts';
import { fillExecutions, fillTasks } from '../environment/fill-tables.ts';
import { install } from '../environment/installation.ts';
import { formatNumber, median, p99 } from '../statistics.ts';

const TASKS = 100_000;
const EXECUTIONS = 1_000_000;
/** As many as the largest plan allows. */
const ACTIVE_TASKS = 100;
const FATES_EACH = 30;
const PAGES = { home: '/', tasks: '/tasks' } as const;

interface Timing {
  p50: number;
  p99: number;
}

export const pagesHtml: Benchmark = {
  about: `GET / and /tasks of somebody with ${TASKS.toLocaleString('en-US')} tasks and a million runs: time to the first byte, and bytes over the wire`,
  async run(stack, environment) {
    const { quick, largest } = environment;
    const { db, apiUrl, databaseUrl, jwtSecret } = await install(stack, environment, {
      scheduler: false,
      apiEnv: { RATE_LIMIT_MULTIPLIER: '1000' },
    });
    const [owner] = await insertUsers(db, { count: 1, jwtSecret });
    if (!owner) throw new Error('No user was inserted.');
    await fillTasks(databaseUrl, quick ? 2000 : TASKS, owner.id);
    await fillExecutions(databaseUrl, quick ? 2000 : Math.min(EXECUTIONS, largest));
    await activateTasks(db, owner.id);
    await db.execute(sql`vacuum analyze`);

    const connection = new Client(apiUrl);
    closeWith(stack, () => connection.destroy());
    const open = createBrowser(connection, owner.token);
    const rows: Comparison[] = [];
    for (const [name, path] of Object.entries(PAGES)) {
      const results = await measureInRounds(
        environment.rounds,
        { carillon: () => measure(open, path, quick ? 10 : 300) },
        ({ p50, p99 }: Timing) => `${name}: ${formatNumber(p50)} ms, p99 ${formatNumber(p99)} ms`,
      );
      const note = 'sequential requests over one connection, with the session, compressed by Brotli';
      rows.push(
        {
          what: `GET ${path}, first byte`,
          unit: 'ms',
          values: results.carillon.map(({ p50 }) => p50),
          aim: { atMost: 10 },
          note,
        },
        {
          what: `GET ${path}, first byte, p99`,
          unit: 'ms',
          values: results.carillon.map(({ p99 }) => p99),
          aim: { atMost: 40 },
        },
      );
    }
    const { bytes: first, files } = await open(PAGES.home);
    const { bytes: next } = await open(PAGES.tasks);
    const sizes = await Promise.all(files.map(async (file) => (await open(file)).bytes));
    const all = sizes.reduce((sum, bytes) => sum + bytes, first);
    return [
      ...rows,
      { what: 'the first visit, with styles and scripts', unit: 'bytes', values: [all], aim: { atMost: 60_000 } },
      { what: 'the next page', unit: 'bytes', values: [next], aim: { atMost: 15_000 } },
    ];
  },
};

/** Makes the newest tasks due within a day, each with a history of planned runs. */
async function activateTasks(db: Db, userId: number): Promise<void> {
  await db.execute(sql`update tasks set status = 'paused', next_execution_at = null where user_id = ${userId}`);
  await db.execute(sql`
    update tasks set status = 'active', recurrence_pattern = '0 * * * *', scheduled_for = now() - interval '60 days',
      next_execution_at = date_trunc('hour', now()) + interval '1 hour'
    where id in (select id from tasks where user_id = ${userId} order by id desc limit ${ACTIVE_TASKS})`);
  await db.execute(sql`
    insert into occurrences (task_id, planned_for, fate, recorded_at)
    select id, at, 'ran', at from tasks,
      lateral (select date_trunc('hour', now()) - n * interval '1 hour' as at from generate_series(1, ${FATES_EACH}) n) o
    where user_id = ${userId} and status = 'active'`);
}

interface Opened {
  firstByteMs: number;
  /** Of the head and the body, as they were sent. */
  bytes: number;
  /** The addresses of styles, scripts and images. */
  files: string[];
}

type Open = (path: string) => Promise<Opened>;

const createBrowser =
  (connection: Client, token: string): Open =>
  async (path) => {
    const startedAt = performance.now();
    const { statusCode, headers, body } = await connection.request({
      path,
      method: 'GET',
      headers: { accept: 'text/html', 'accept-encoding': 'br', cookie: `local-session=${token}` },
    });
    const firstByteMs = performance.now() - startedAt;
    const bytes = Buffer.from(await body.arrayBuffer());
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}.`);
    const head = Object.entries(headers).reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);
    const text = headers['content-encoding'] === 'br' ? brotliDecompressSync(bytes).toString() : bytes.toString();
    const files = [...text.matchAll(/(?:href|src)="(\/(?:styles|scripts|images)\/[^"]+)"/g)].map(([, url = '']) => url);
    return { firstByteMs, bytes: bytes.length + head, files: [...new Set(files)] };
  };

async function measure(open: Open, path: string, count: number): Promise<Timing> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) times.push((await open(path)).firstByteMs);
  const warm = times.slice(Math.floor(count / 6));
  return { p50: median(warm), p99: p99(warm) };
}
