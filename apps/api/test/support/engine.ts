import { connect, settings, users } from '@carillon/db';
import type { Test } from 'tap';
import type { Caller, Context } from '../../src/context.ts';
import { createWorker, type Worker } from '../../src/entry/worker.ts';
import type { Ai } from '../../src/lib/ai/client.ts';
import type { Config } from '../../src/lib/config/config.ts';
import { type Enqueued, enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { START, type TestContext, testContext } from './context.ts';
import { findInconsistencies } from './inconsistencies.ts';
import { type Person, signUpAlice } from './people.ts';
import { type AiServer, startAiServer } from './servers/ai-server.ts';

export interface Engine extends TestContext {
  /** The AI server of all executions. */
  ai: AiServer;
  /** A new user in each test. */
  alice: () => Caller;
  /** Creates a worker that runs only when it is drained and stops at the end of `t`. */
  newWorker(t: Test, given?: Partial<Context>, options?: { graceMs?: number }): Worker;
  /** Enqueues due tasks and completes all queued executions. */
  runDue(t: Test): Promise<Enqueued>;
  /** Creates a second context with its own pool and worker, but the same database, AI server and clock. */
  newProcess(t: Test, config?: Partial<Config>, ai?: Ai): { ctx: Context; worker: Worker; close(): Promise<void> };
}

export const AI_KEY = 'the-operators-own-key';

/** Each test starts at `START` with an empty database and an AI server that answers, and ends without inconsistencies. */
export async function testEngine(t: Test, env: Record<string, string> = {}): Promise<Engine> {
  const ai = await startAiServer();
  const test = await testContext(t, { env: { AI_BASE_URL: ai.url, AI_API_KEY: AI_KEY, ...env } });
  t.teardown(() => ai.close());
  const { ctx, app, clock } = test;
  const idle = ctx.worker;
  let alice: Person | undefined;

  t.beforeEach(async () => {
    // Deleting the users deletes all rows that belong to them.
    await ctx.db.delete(users);
    await ctx.db.update(settings).set({ maxExecutionsPerDay: 500, maxTasksPerUser: 100, maintenanceMode: false });
    ai.requests.length = 0;
    ai.answer(() => ({}));
    test.logged.length = 0;
    ctx.worker = idle;
    clock.set(START);
    alice = await signUpAlice(app);
  });
  t.afterEach(async () => {
    const inconsistencies = await findInconsistencies(ctx);
    if (inconsistencies.length > 0) throw new Error(`Inconsistent rows: ${JSON.stringify(inconsistencies)}`);
  });

  function newWorker(t: Test, given: Partial<Context> = {}, { graceMs = 0 } = {}) {
    const own = { ...ctx, ...given };
    const worker = createWorker(own, { graceMs });
    // Deliveries stay in the database for the test to read.
    own.worker = { ...worker, wakeDeliveries: () => {} };
    t.teardown(() => worker.stop());
    return worker;
  }

  return {
    ...test,
    ai,
    alice: () => buildCaller((alice as Person).id),
    newWorker,
    async runDue(t) {
      const enqueued = await enqueueDue(ctx);
      await newWorker(t).drain();
      return enqueued;
    },
    newProcess(t, config = {}, ai = ctx.ai) {
      const { db, close } = connect(test.databaseUrl, { max: 4 });
      t.teardown(close);
      const own = { ...ctx, db, ai, config: { ...ctx.config, ...config } };
      const worker = newWorker(t, own);
      return { ctx: { ...own, worker }, worker, close };
    },
  };
}

/** Builds the caller that service functions receive. */
export function buildCaller(id: number): Caller {
  const rest = {
    role: 'USER',
    plan: 'trial',
    timezone: null,
    language: 'en',
    trialEndsAt: null,
    createdAt: START,
  } as const;
  return {
    id,
    name: 'Someone',
    email: 'someone@example.com',
    ...rest,
    sessionId: '00000000-0000-4000-8000-000000000000',
    confirmedAt: null,
    apiKey: null,
  };
}
