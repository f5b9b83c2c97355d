import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uploadTotals, usageCounters, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { openCarillon, runCarillon } from './run-carillon.ts';

const cwd = mkdtempSync(join(tmpdir(), 'carillon-verify-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
const runNext = openCarillon(t);
const verify = (DATABASE_URL: string, run = runNext) =>
  run(['usage', 'verify'], { DATA_DIR: cwd, DATABASE_URL }, { cwd });

t.test('Matching counters are reported and exit with 0', async (t) => {
  const { url } = await testDatabase(t);
  const out = [
    'All usage counters match the ledger.',
    'All storage totals match the uploads.',
    'All task counts match the tasks.\n',
  ].join('\n');
  t.same(await verify(url, runCarillon), { code: 0, out, err: '' });
});

t.test('Each difference is a line, and the command exits with 1', async (t) => {
  const { db, url } = await testDatabase(t);
  const account = { identityUserId: 'local:a', email: 'alice@example.com', name: 'Alice' };
  const [alice] = await db.insert(users).values(account).returning({ id: users.id });
  const userId = alice?.id ?? 0;
  await db.insert(usageCounters).values({ userId, period: '2026-11', executions: 3, tokens: 40 });
  const { code, out } = await verify(url);
  t.equal(code, 1);
  t.equal(
    out,
    [
      `User ${userId}, 2026-11: executions 3 instead of 0, tokens 40 instead of 0`,
      'Usage counters that differ from the ledger: 1.',
      'All storage totals match the uploads.',
      'All task counts match the tasks.\n',
    ].join('\n'),
  );
});

t.test('A wrong storage total is a line', async (t) => {
  const { db, url } = await testDatabase(t);
  const account = { identityUserId: 'local:a', email: 'alice@example.com', name: 'Alice' };
  const [alice] = await db.insert(users).values(account).returning({ id: users.id });
  const userId = alice?.id ?? 0;
  await db.insert(uploadTotals).values({ userId, bytes: 10, files: 0 });
  t.match(await verify(url), {
    code: 1,
    out: `User ${userId}, uploads: bytes 10 instead of 0\nAll usage counters`,
  });
});

t.test('A wrong task count is a line', async (t) => {
  const { db, url } = await testDatabase(t);
  const account = { identityUserId: 'local:a', email: 'alice@example.com', name: 'Alice', taskCount: 2 };
  const [alice] = await db.insert(users).values(account).returning({ id: users.id });
  const { code, out } = await verify(url);
  t.equal(code, 1);
  t.match(out, `User ${alice?.id}: tasks 2 instead of 0\nAll usage counters`);
  t.match(out, /^Task counts that differ from the tasks: 1\.$/m);
});

t.test('An unreachable database is reported and exits with 2', async (t) => {
  const { code, err } = await verify('postgres://nobody@127.0.0.1:1/nothing', runCarillon);
  t.equal(code, 2);
  t.match(err, /^\S[^\n]+\n$/);
  const { db, url } = await testDatabase(t);
  await db.execute('drop table usage_counters');
  t.match(await verify(url), { code: 2, err: 'The database has no tables yet: start Carillon first.\n' });
});
