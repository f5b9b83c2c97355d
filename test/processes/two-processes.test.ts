import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { startApiProcess } from './api-process.ts';
import { countStates, findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

t.test('Two processes and four overlapping ticks execute each of 2,000 due tasks exactly once', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer({ delayMs: 20 });
  t.teardown(ai.close);
  const settings = { databaseUrl, aiUrl: ai.url };
  const [one, two] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);

  const taskIds = await insertDueTasks(db, { userIds: await insertPeople(db, 100), perUser: 20, at: new Date() });
  const startedAt = performance.now();
  const ticks = await Promise.all([one.tick(), two.tick(), one.tick(), two.tick()]);
  t.comment(`2,000 executions took ${Math.round(performance.now() - startedAt)} ms`, ticks);

  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
  t.equal(sum(ticks.map(({ processed }) => processed)), 2000, 'each was counted by one of the ticks');
  t.equal(sum(ticks.map(({ failed }) => failed)), 0);
  t.strictSame(await countStates(db), { pending: 0, running: 0, completed: 2000, failed: 0 });
  t.strictSame(await findNotOnce(db), [], 'each task has one ledger row and one execution');
  const prompts = ai.requests.map(({ body }) => body.messages.at(-1)?.content);
  t.equal(prompts.length, taskIds.length, 'one request to the provider for each');
  t.equal(new Set(prompts).size, taskIds.length);
  t.strictSame(await findWrongCounters(db), []);
});
