import { connect, type Db, settings, users } from '@carillon/db';
import type { Test } from 'tap';
import type { Ai } from '../../src/ai/client.ts';
import type { Config } from '../../src/config/config.ts';
import type { Caller, Context } from '../../src/context.ts';
import { type Enqueued, enqueueDue } from '../../src/executions/pipeline/enqueue.ts';
import { createWorker, type Worker } from '../../src/worker.ts';
import { START, type TestContext, testContext } from './context.ts';
import { findInconsistencies } from './inconsistencies.ts';
import { type Person, signUpAlice } from './people.ts';
import { type AiServer, startAiServer } from './servers/ai-server.ts';

export interface Engine extends TestContext {
  /** The provider that every execution asks. */
  ai: AiServer;
  /** Alice as a verb knows her, signed up anew for each test. */
  alice: () => Caller;
  /** A worker that runs only when it is drained, and is stopped at the end of `t`. */
  newWorker(t: Test, given?: Partial<Context>, options?: { graceMs?: number }): Worker;
  /** Enqueues what is due and runs all that is queued, to the end. */
  runDue(t: Test): Promise<Enqueued>;
  /** Another process: the same database, provider and clock, with a pool and a worker of its own. */
  newProcess(t: Test, config?: Partial<Config>, ai?: Ai): { ctx: Context; worker: Worker; close(): Promise<void> };
}

export const AI_KEY = 'the-operators-own-key';

/**
 * What runs tasks, for the tests of a file: each begins at `START` with an empty database and a friendly AI server, and
 * fails when the books do not balance at its end.
 */
export async function testEngine(t: Test, env: Record<string, string> = {}): Promise<Engine> {
  const ai = await startAiServer();
  const test = await testContext(t, { env: { AI_BASE_URL: ai.url, AI_API_KEY: AI_KEY, ...env } });
  t.teardown(() => ai.close());
  const { ctx, app, clock } = test;
  const idle = ctx.worker;
  let alice: Person | undefined;

  t.beforeEach(async () => {
    // Everything there is belongs to somebody.
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
    const faults = await findInconsistencies(ctx);
    if (faults.length > 0) throw new Error(`The books do not balance: ${JSON.stringify(faults)}`);
  });

  function newWorker(t: Test, given: Partial<Context> = {}, { graceMs = 0 } = {}) {
    const own = { ...ctx, ...given };
    const worker = createWorker(own, { graceMs });
    // What is to be delivered stays where the test can look at it.
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
      const { db, close } = connect(urlOf(ctx.db), { max: 4 });
      t.teardown(close);
      const own = { ...ctx, db, ai, config: { ...ctx.config, ...config } };
      const worker = newWorker(t, own);
      return { ctx: { ...own, worker }, worker, close };
    },
  };
}

/** A user as the verbs are handed one. */
export function buildCaller(id: number): Caller {
  const rest = { role: 'USER', plan: 'trial', timezone: null, trialEndsAt: null, createdAt: START } as const;
  return {
    id,
    name: 'Someone',
    email: 'someone@example.com',
    ...rest,
    sessionId: '00000000-0000-4000-8000-000000000000',
  };
}

interface Connected {
  $client: { options: { user: string; pass: string | null; host: string[]; port: number[]; database: string } };
}

function urlOf(db: Db): string {
  const { user, pass, host, port, database } = (db as unknown as Connected).$client.options;
  return `postgres://${user}:${pass}@${host[0]}:${port[0]}/${database}`;
}
