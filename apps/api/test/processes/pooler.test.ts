import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { connect, queryRows } from '@carillon/db';
import { assertStatementsKept } from '@carillon/db/pool/pooler';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { skipWithoutPgBouncer as skip, startPgBouncer } from '../../../../packages/db/test/pgbouncer.ts';
import { startApiProcess, until } from './api-process.ts';
import { ask } from './clients.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const REFUSAL =
  /^The pooler at 127\.0\.0\.1:\d+ loses prepared statements: set pool_mode = session in PgBouncer, or connect to PostgreSQL directly\.$/;

t.test('A pooler that loses prepared statements stops the start with one line', { skip }, async (t) => {
  const { url } = await testDatabase(t);
  const pooled = await startPgBouncer(t, url, 'transaction');
  for (let n = 0; n < 5; n++) await t.rejects(assertStatementsKept(pooled), { message: REFUSAL });
  const { db, close } = connect(pooled);
  t.teardown(close);
  let isBusy = true;
  const work = async () => {
    while (isBusy) await db.transaction((tx) => queryRows(tx, sql`select 1`)).catch(() => {});
  };
  const traffic = Promise.all([work(), work(), work()]);
  await t.rejects(assertStatementsKept(pooled), { message: REFUSAL }, 'also while others use it');
  isBusy = false;
  await traffic;

  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN], {
    cwd: t.testdir(),
    env: { PATH, NODE_COMPILE_CACHE, DATABASE_URL: pooled, AI_BASE_URL: 'offline', PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [[code], printed] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  t.equal(code, 1);
  t.match(printed.trimEnd(), REFUSAL);
});

t.test(
  'Behind a pooler with sessions the service starts, and its statements have their timeouts',
  { skip },
  async (t) => {
    const { url } = await testDatabase(t);
    const pooled = await startPgBouncer(t, url, 'session');
    const env = { DATABASE_POOL: '3' };
    const api = await startApiProcess(t, { databaseUrl: pooled, aiUrl: 'offline', env });
    await until(async () => (await ask(`${api.url}/api/health/ready`)).status === 200);
    const { db, close } = connect(pooled, { max: 1 });
    t.teardown(close);
    const [timeouts] = await queryRows(
      db,
      sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`,
    );
    t.same(timeouts, { statement: '3500ms', lock: '3s', idle: '1400ms' });
  },
);
