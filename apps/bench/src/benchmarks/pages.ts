import { deepStrictEqual } from 'node:assert/strict';
import { encodeCursor } from '@carillon/api/platform/queries/pages';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { Client } from 'undici';
import { resolveProgram, SERVER_CORE, startProcess } from '../../../../test/system/processes.ts';
import { insertUsers } from '../../../../test/system/users.ts';
import { type Benchmark, type Environment, measureInRounds } from '../benchmark.ts';
import { fillExecutions, fillTasks } from '../environment/fill-tables.ts';
import { prepareFreshInstallation } from '../environment/fresh-installation.ts';
import { formatNumber, median } from '../statistics.ts';

const LIMIT = 20;
const ROWS = 1_000_000;
const DEEP_PAGE = 10_000;
const LARGEST_ID = 2 ** 31 - 1;
const REQUESTS = { quick: 5, full: 300 };

export const pages: Benchmark = {
  about: `GET /api/tasks and /api/executions for a user with a million of each: the first page, and page ${DEEP_PAGE.toLocaleString('en-US')} by cursor`,
  async run(stack, environment) {
    const count = environment.quick ? 2000 : Math.min(ROWS, environment.largest);
    const page = Math.min(DEEP_PAGE, count / LIMIT / 2);
    const { db, databaseUrl, jwtSecret, measure } = await prepareFreshInstallation(stack, environment, {
      scheduler: false,
    });
    const [owner] = await insertUsers(db, { count: 1, jwtSecret });
    if (!owner) throw new Error('No user was inserted.');
    await fillTasks(databaseUrl, count, owner.id);
    await fillExecutions(databaseUrl, count);
    await db.execute(sql`vacuum analyze`);
    const targets = await findTargets(db, owner.id, page);
    const measurePlain = async () => {
      await using round = new AsyncDisposableStack();
      const { ready: url } = await startProcess(round, {
        name: 'pages',
        file: resolveProgram('bench/src/baselines/http/pages-main.ts'),
        folder: environment.server.folder,
        core: SERVER_CORE,
        env: { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret, NODE_ENV: 'production' },
        ready: /^ready at (\S+)$/m,
      });
      return await readPages(environment, {
        url,
        headers: {},
        pages: targets.map(({ plainPath, table }) => ({ path: plainPath, table })),
      });
    };
    const headers = { authorization: `Bearer ${owner.token}` };
    const results = await measureInRounds(
      environment.rounds,
      {
        carillon: () => measure(({ apiUrl: url }) => readPages(environment, { url, headers, pages: targets })),
        plain: measurePlain,
      },
      (read) => read.map(({ ms }) => `${formatNumber(ms)} ms`).join(', '),
    );
    return targets.map(({ what }, index) => {
      const [values, plainValues] = [results.carillon, results.plain].map((rounds) =>
        rounds.map((read) => read[index]?.ms ?? Number.NaN),
      ) as [number[], number[]];
      deepStrictEqual(results.plain[0]?.[index]?.rows, results.carillon[0]?.[index]?.rows);
      return {
        what,
        unit: 'ms',
        values,
        baseline: { name: 'the plain indexed query as JSON from bare Fastify', values: plainValues },
        aim: { atMost: 1.5 },
        note: `pages of ${LIMIT} rows with the same fields, one request at a time; each round is the median of ${REQUESTS.full} requests to a new, warmed-up process. The baseline runs a prepared statement and compiles its serializer; it has no session and no total, which Carillon returns with the first page`,
      };
    });
  },
};

type Table = 'tasks' | 'executions';

interface Target {
  what: string;
  table: Table;
  path: string;
  /** Of the baseline. */
  plainPath: string;
}

async function findTargets(db: Db, userId: number, page: number): Promise<Target[]> {
  const targets: Target[] = [];
  for (const table of ['tasks', 'executions'] as const) {
    const plain = (before: number) => `/${table}?user=${userId}&before=${before}&limit=${LIMIT + 1}`;
    const path = `/api/${table}?limit=${LIMIT}`;
    const deep = await findPageStart(db, table, page);
    targets.push(
      { what: `GET /api/${table}, first page`, table, path, plainPath: plain(LARGEST_ID) },
      {
        what: `GET /api/${table}, page ${page.toLocaleString('en-US')}`,
        table,
        path: `${path}&cursor=${encodeCursor(deep)}`,
        plainPath: plain(deep),
      },
    );
  }
  return targets;
}

/** Returns the last id before page `page`. */
async function findPageStart(db: Db, table: Table, page: number): Promise<number> {
  const [row] = await queryRows<{ id: number }>(
    db,
    sql`select id from ${sql.identifier(table)} order by id desc offset ${(page - 1) * LIMIT}::int limit 1`,
  );
  return row?.id ?? 0;
}

interface PagesOptions {
  url: string;
  headers: Record<string, string>;
  pages: readonly { path: string; table: Table }[];
}

/** Warms the server up, then returns the median time and the rows of each page. */
async function readPages({ quick }: Environment, { url, headers, pages }: PagesOptions) {
  const connection = new Client(url);
  const read = async (path: string) => {
    const { statusCode, body } = await connection.request({ path, method: 'GET', headers });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text.slice(0, 300)}`);
    return text;
  };
  const count = quick ? REQUESTS.quick : REQUESTS.full;
  try {
    for (let n = 0; n < count; n++) for (const { path } of pages) await read(path);
    const results: { ms: number; rows: unknown[] }[] = [];
    for (const { path, table } of pages) {
      const times: number[] = [];
      let text = '';
      for (let n = 0; n < count; n++) {
        const startedAt = performance.now();
        text = await read(path);
        times.push(performance.now() - startedAt);
      }
      results.push({ ms: median(times), rows: JSON.parse(text)[table].slice(0, LIMIT) });
    }
    return results;
  } finally {
    await connection.destroy();
  }
}
