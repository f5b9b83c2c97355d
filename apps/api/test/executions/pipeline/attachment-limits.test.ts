import t, { type Test } from 'tap';
import type { Context } from '../../../src/context.ts';
import { createFileStorage } from '../../../src/lib/storage/client.ts';
import type { AttachmentLimits } from '../../../src/product/executions/pipeline/attachments.ts';
import { createByteBudget } from '../../../src/product/executions/pipeline/byte-budget.ts';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { runExecution } from '../../../src/product/executions/pipeline/run.ts';
import type { ClaimedExecution } from '../../../src/product/executions/pipeline/select-candidates.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { CSV, storeAttachment } from '../../support/attachments.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask } from '../../support/task-rows.ts';

const { ctx: shared, ai, alice } = await testEngine(t);
const disk = createFileStorage({ storage: { driver: 'disk', url: 'http://files.test', folder: t.testdir() } });
const ctx: Context = { ...shared, files: disk };

const MIB = 1024 * 1024;
const never = new AbortController().signal;

/** Limits whose `reservations` counts how often part of the budget was reserved. */
function createLimits(bytes: number, readMs = 60_000): AttachmentLimits & { reservations: number } {
  const { reserve } = createByteBudget(bytes);
  const limits = {
    reservations: 0,
    readMs,
    budget: {
      async reserve(...request: Parameters<typeof reserve>) {
        const reservation = await reserve(...request);
        limits.reservations += 1;
        return reservation;
      },
    },
  };
  return limits;
}

/** Starts executions, each of a task with a file of its own, in the order of their tasks. */
async function startRuns(count: number, { attached = true } = {}): Promise<ClaimedExecution[]> {
  for (let i = 0; i < count; i++) {
    const { id } = await storeAttachment(ctx, alice().id, CSV);
    await insertTask(ctx, alice().id, { prompt: `Prompt number ${i}.`, attachments: attached ? [id] : [] });
  }
  await enqueueDue(ctx);
  const { started } = await pipeline.claim(ctx, { limit: count, after: 0 });
  return started.sort((a, b) => a.taskId - b.taskId);
}

/** The provider holds each request until it is released; `reached(n)` resolves when the n-th has arrived. */
function holdRequests(t: Test) {
  const places = [0, 1, 2].map(() => ({ come: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() }));
  let count = 0;
  ai.answer(async () => {
    const place = places[count++];
    place?.come.resolve();
    await place?.go.promise;
    return {};
  });
  const letGo = (at: number) => places[at]?.go.resolve();
  t.teardown(() => [0, 1, 2].map(letGo));
  return { reached: (at: number) => places[at]?.come.promise, letGo };
}

async function run(claimed: ClaimedExecution, limits: AttachmentLimits, signal = never, given: Partial<Context> = {}) {
  const result = await runExecution({ ...ctx, ...given }, claimed, signal, limits);
  if (!signal.aborted) await inTransaction(ctx, (tx) => completeExecutions(tx, [result]));
  return result;
}

t.test('Executions whose files do not fit into memory together run one after the other, in their order', async (t) => {
  const runs = await startRuns(3);
  const limits = createLimits(20 * MIB);
  const { reached, letGo } = holdRequests(t);
  const ends = runs.map((claimed) => run(claimed, limits));
  for (const at of [0, 1, 2]) {
    await reached(at);
    t.equal(limits.reservations, at + 1, 'while the provider is asked, the next one has nothing');
    t.match(JSON.stringify(ai.requests[at]?.body), new RegExp(`Prompt number ${at}\\.`));
    letGo(at);
  }
  t.match(await Promise.all(ends), [{ ok: true }, { ok: true }, { ok: true }]);
});

t.test('Executions whose files fit into memory together run together: only real sizes count', async (t) => {
  const runs = await startRuns(3);
  const limits = createLimits(20 * MIB + 3 * CSV.bytes.length * 2);
  const { reached, letGo } = holdRequests(t);
  const ends = runs.map((claimed) => run(claimed, limits));
  for (const at of [0, 1, 2]) await reached(at);
  for (const at of [0, 1, 2]) letGo(at);
  for (const end of ends) t.match(await end, { ok: true });
});

t.test('An execution without files waits for no budget and queries nothing', async (t) => {
  const [large] = await startRuns(1);
  const [bare] = await startRuns(1, { attached: false });
  const limits = createLimits(20 * MIB);
  const { reached, letGo } = holdRequests(t);
  const first = run(large!, limits);
  await reached(0);
  letGo(1);
  const db = new Proxy(ctx.db, {
    get: (_, name) => t.fail(`it asks for ${String(name)}`),
  });
  t.match(await runExecution({ ...ctx, db }, bare!, never, limits), { ok: true });
  letGo(0);
  t.match(await first, { ok: true });
});

t.test('An execution with files queries the database once', async (t) => {
  const [claimed] = await startRuns(1);
  let selects = 0;
  const db = new Proxy(ctx.db, {
    get: (target, name, receiver) => {
      if (name === 'select') selects += 1;
      else if (name === 'execute') t.fail('it asks in another way');
      return Reflect.get(target, name, receiver);
    },
  });
  t.match(await runExecution({ ...ctx, db }, claimed!, never, createLimits(20 * MIB)), { ok: true });
  t.equal(selects, 1);
});

t.test('An execution that is aborted while it waits for memory ends at once, and the next one runs', async (t) => {
  const [first, given, last] = await startRuns(3);
  const limits = createLimits(20 * MIB);
  const { reached, letGo } = holdRequests(t);
  const abort = new AbortController();
  const ends = [run(first!, limits), run(given!, limits, abort.signal), run(last!, limits)];
  await reached(0);
  abort.abort();
  t.match(await ends[1], { ok: false, errorCode: 'INTERRUPTED', retryable: true });
  t.equal(limits.reservations, 1);
  letGo(0);
  await reached(1);
  letGo(1);
  t.match(await Promise.all(ends), [{ ok: true }, { ok: false }, { ok: true }]);
  t.equal(ai.requests.length, 2);
});

t.test('An execution that is aborted while storage hangs ends at once', async (t) => {
  const [claimed] = await startRuns(1);
  const asked = Promise.withResolvers<void>();
  const hanging = {
    ...disk,
    read: () => {
      asked.resolve();
      return new Promise<null>(() => {});
    },
  };
  const abort = new AbortController();
  const end = run(claimed!, createLimits(20 * MIB), abort.signal, { files: hanging });
  await asked.promise;
  abort.abort();
  t.match(await end, { ok: false, errorCode: 'INTERRUPTED' });
});

t.test('Storage that hangs times out, frees the memory, and the execution is retried', async (t) => {
  const [claimed, next] = await startRuns(2);
  const limits = createLimits(20 * MIB, 50);
  const hanging = { ...disk, read: () => new Promise<null>(() => {}) };
  const outcome = await run(claimed!, limits, never, { files: hanging });
  t.match(outcome, { ok: false, errorCode: 'PROVIDER_UNAVAILABLE', retryable: true, message: /^File storage/ });
  t.match(await run(next!, { ...limits, readMs: 60_000 }), { ok: true });
});

t.test('A failed execution frees its memory after every kind of failure', async (t) => {
  const [failing, next] = await startRuns(2);
  const limits = createLimits(20 * MIB);
  const broken = { ...ctx.ai, ask: () => Promise.reject(new Error('a bug')) };
  await t.rejects(run(failing!, limits, never, { ai: broken }), { message: 'a bug' });
  t.match(await run(next!, limits), { ok: true });
});
