import { randomUUID } from 'node:crypto';
import { providers, queryRows, tasks } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { startAnthropicServer } from '../../apps/api/test/support/servers/anthropic-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { insertDueTasks, insertPeople } from './due-tasks.ts';

const LEASE_MS = 1500;
const RUNS = 24;
const COST = 0.25;

t.setTimeout(120_000);

t.test(
  'Two processes, one killed while fallback models are asked: each run is answered once, and every call is paid once',
  async (t) => {
    const { db, url: databaseUrl } = await testDatabase(t);
    const first = await startAiServer();
    const second = await startAiServer();
    const claude = await startAnthropicServer({ after: (work) => t.teardown(work) });
    t.teardown(first.close);
    t.teardown(second.close);
    // Billed, and then of no use.
    first.answer(() => ({ text: '', usage: { promptTokens: 10, completionTokens: 1, cost: COST } }));
    second.answer((_request, at) => (at % 2 === 0 ? { hang: 'head' } : { status: 503 }));
    const at = new Date();
    await db.insert(providers).values([
      {
        id: randomUUID(),
        name: 'second',
        kind: 'openai',
        baseUrl: second.url,
        maxConcurrent: 8,
        createdAt: at,
        updatedAt: at,
      },
    ]);
    const userIds = await insertPeople(db, 6);
    await insertDueTasks(db, { userIds, perUser: RUNS / 6, at });
    await db.update(tasks).set({ aiModel: 'm', fallbackModels: ['second/m', 'anthropic/claude-x'], timeoutMs: 4000 });
    const env = { ANTHROPIC_API_KEY: 'anthropic-key-1', ANTHROPIC_BASE_URL: claude.url };
    const settings = { databaseUrl, aiUrl: first.url, leaseMs: LEASE_MS, env };
    const dying = await startApiProcess(t, settings);
    const staying = await startApiProcess(t, settings);
    await dying.tick({ wait: false });
    await until(() => second.requests.length >= 6);
    t.strictSame(await dying.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
    t.strictSame(await findWrongCounters(db), [], 'the kill leaves the counters right');
    second.answer(() => ({ status: 503 }));
    await until(async () => {
      await staying.tick();
      const [left] = await queryRows<{ count: number }>(
        db,
        sql`select count(*)::int as count from executions where status <> 'completed'`,
      );
      return left?.count === 0;
    });
    t.strictSame(await findWrongCounters(db), []);
    const [sums] = await queryRows<Record<string, number>>(
      db,
      sql`
    select (select count(*)::int from executions) as runs,
      (select count(distinct task_id)::int from executions) as tasks,
      (select count(*)::int from usage_records where executions = 1) as answers,
      (select count(*)::int from usage_records where source = 'fallback' and provider = 'default') as first_calls,
      (select count(*)::int from executions
        where model_attempts -> -1 ->> 'model' <> 'anthropic/claude-x') as others`,
    );
    t.match(sums, { runs: RUNS, tasks: RUNS, answers: RUNS, others: 0 });
    t.ok(
      (sums?.firstCalls ?? 0) <= first.requests.length && (sums?.firstCalls ?? 0) >= RUNS,
      'no call is stored twice',
    );
  },
);
