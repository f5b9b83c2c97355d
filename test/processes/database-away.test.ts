import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, executions } from '@carillon/db';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { migrateDatabase } from '@carillon/db/migrate';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { countStates, findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

const LEASE_MS = 1500;

t.test('Results of executions that end while the database is unavailable are stored when it is back', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-away-'));
  // PostgreSQL started by root runs as another user, which has to enter the folder.
  chmodSync(dataDir, 0o711);
  let server = await startEmbeddedPostgres({ dataDir, durable: false });
  t.teardown(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const databaseUrl = server.url;
  await migrateDatabase(databaseUrl);
  const ai = await startAiServer();
  t.teardown(ai.close);
  let answerAll = () => {};
  const answered = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  // Half of the answers come while the database is unavailable, half once it is back.
  ai.answer(async (_request, index) => {
    await answered;
    return { text: 'paid for', delayMs: index % 2 ? 0 : 8000 };
  });
  const settings = { databaseUrl, aiUrl: ai.url, leaseMs: LEASE_MS };
  const [one, two] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
  const { db, close } = connect(databaseUrl, { max: 2 });
  const userIds = await insertPeople(db, 6);
  await insertDueTasks(db, { userIds, perUser: 5, at: new Date() });
  await Promise.all([one.tick({ wait: false }), two.tick({ wait: false })]);
  await until(async () => (await countStates(db)).running === 30 && ai.requests.length === 30);
  await close();

  await server.stop();
  answerAll();
  const leasesEnded = Date.now() + 2 * LEASE_MS;
  await until(() => Date.now() > leasesEnded);
  t.equal(one.isAlive() && two.isAlive(), true, 'no process exits');

  server = await startEmbeddedPostgres({ dataDir, durable: false });
  const backAt = performance.now();
  t.equal(server.url, databaseUrl);
  const again = connect(databaseUrl, { max: 2 });
  t.teardown(again.close);
  await until(async () => (await countStates(again.db)).completed >= 15);
  t.comment(`results were stored ${Math.round(performance.now() - backAt)} ms after the database was back`);
  await until(async () => (await countStates(again.db)).completed === 30);

  t.equal(ai.requests.length, 30, 'nothing ran twice');
  const stored = await again.db
    .select({ result: executions.result, interruptions: executions.interruptions })
    .from(executions);
  t.strictSame(stored, Array(30).fill({ result: 'paid for', interruptions: 0 }));
  await insertDueTasks(again.db, { userIds, perUser: 1, at: new Date() });
  ai.answer(() => ({}));
  t.equal((await one.tick()).processed, 6, 'new work is run');
  t.equal(one.isAlive() && two.isAlive(), true);
  t.strictSame(await findNotOnce(again.db), []);
  t.strictSame(await findWrongCounters(again.db), []);
});
