import { deepStrictEqual } from 'node:assert/strict';
import { encodeCursor } from '@carillon/api/queries/pages';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { Client } from 'undici';
import { type Benchmark, type Comparison, type Environment, measureInRounds } from '../benchmark.ts';
import { fillExecutions, fillTasks } from '../environment/fill-tables.ts';
import { install } from '../environment/installation.ts';
import { resolveProgram, SERVER_CORE, startProcess } from '../environment/processes.ts';
import { closeWith } from '../environment/shutdown.ts';
import { insertUsers } from '../environment/users.ts';
import { formatNumber, median } from '../statistics.ts';

const LIMIT = 20;
const ROWS = 1_000_000;
const DEEP_PAGE = 10_000;
const LARGEST_ID = 2 ** 31 - 1;

export const pages: Benchmark = {
  about: `GET /api/tasks and /api/executions for a user with a million of each: the first page, and page ${DEEP_PAGE.toLocaleString('en-US')} by cursor`,
  async run(stack, environment) {
    const count = environment.quick ? 2000 : Math.min(ROWS, environment.largest);
    const page = Math.min(DEEP_PAGE, count / LIMIT / 2);
    const { db, apiUrl, databaseUrl, jwtSecret } = await install(stack, environment, { scheduler: false });
    const [owner] = await insertUsers(db, { count: 1, jwtSecret });
    if (!owner) throw new Error('No user was inserted.');
    await fillTasks(databaseUrl, count, owner.id);
    await fillExecutions(databaseUrl, count);
    await db.execute(sql`vacuum analyze`);
    const { ready: plainUrl } = await startProcess(stack, {
      name: 'pages',
      file: resolveProgram('baselines/http/pages-main.ts'),
      folder: environment.server.folder,
      core: SERVER_CORE,
      env: { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret },
      ready: /^ready at (\S+)$/m,
    });
    const carillon = createClient(stack, apiUrl, { authorization: `Bearer ${owner.token}` });
    const plain = createClient(stack, plainUrl, {});

    const rows: Comparison[] = [];
    for (const table of ['tasks', 'executions'] as const) {
      const deep = await findPageStart(db, table, page);
      for (const [pageName, before] of [
        ['first page', null],
        [`page ${page.toLocaleString('en-US')}`, deep],
      ] as const) {
        const cursor = before === null ? '' : `&cursor=${encodeCursor(before)}`;
        const path = `/api/${table}?limit=${LIMIT}${cursor}`;
        const plainPath: string = `/${table}?user=${owner.id}&before=${before ?? LARGEST_ID}&limit=${LIMIT + 1}`;
        const readRows = async (answer: Promise<string>): Promise<object[]> =>
          JSON.parse(await answer)[table].slice(0, LIMIT);
        deepStrictEqual(await readRows(plain(plainPath)), await readRows(carillon(path)));
        const results = await measureInRounds(
          environment.rounds,
          {
            carillon: () => measureMedian(environment, carillon, path),
            plain: () => measureMedian(environment, plain, plainPath),
          },
          (ms) => `${pageName} of ${table} in ${formatNumber(ms)} ms`,
        );
        rows.push({
          what: `GET /api/${table}, ${pageName}`,
          unit: 'ms',
          values: results.carillon,
          baseline: { name: 'the plain indexed query as JSON from bare Fastify', values: results.plain },
          aim: { atMost: 1.5 },
          note: `pages of ${LIMIT} rows with the same fields; each round is the median of sequential requests; the baseline has a prepared statement, no session and no total, which Carillon returns with the first page`,
        });
      }
    }
    return rows;
  },
};

/** Returns the last id before page `page`. */
async function findPageStart(db: Db, table: 'tasks' | 'executions', page: number): Promise<number> {
  const [row] = await queryRows<{ id: number }>(
    db,
    sql`select id from ${sql.identifier(table)} order by id desc offset ${(page - 1) * LIMIT}::int limit 1`,
  );
  return row?.id ?? 0;
}

type Request = (path: string) => Promise<string>;

function createClient(stack: AsyncDisposableStack, url: string, headers: Record<string, string>): Request {
  const connection = new Client(url);
  closeWith(stack, () => connection.destroy());
  return async (path) => {
    const { statusCode, body } = await connection.request({ path, method: 'GET', headers });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text.slice(0, 300)}`);
    return text;
  };
}

async function measureMedian({ quick }: Environment, request: Request, path: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < (quick ? 5 : 60); n++) {
    const startedAt = performance.now();
    await request(path);
    times.push(performance.now() - startedAt);
  }
  return median(times.slice(Math.floor(times.length / 6)));
}
