import { executions, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import { createFixedAi, INVALID_IDS, postTask, REFUSED_OUTCOME, runDue } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const alice = await signUp(app);
const USAGE = { model: 'm', inputTokens: 1, outputTokens: 1, estimated: false, costUsd: 0 };

/** Runs the task by hand with this answer, or a failure without one; returns the id of the execution. */
async function run({ headers }: Person, taskId: number, text: string | null, output: unknown = null): Promise<number> {
  const answer = await app.inject({ method: 'POST', url: `/api/tasks/${taskId}/execute`, headers });
  const outcome = text === null ? REFUSED_OUTCOME : { ok: true as const, text, durationMs: 1, usage: USAGE };
  await runDue({ ...ctx, ai: createFixedAi(outcome) });
  const { executionId } = answer.json();
  if (output !== null) await ctx.db.update(executions).set({ output }).where(eq(executions.id, executionId));
  return executionId;
}

const get = ({ headers }: Person, id: number | string, against?: number | string) =>
  app.inject({ url: `/api/executions/${id}/diff${against === undefined ? '' : `?against=${against}`}`, headers });
const diff = async (id: number, against?: number) => (await get(alice, id, against)).json();
const create = () => postTask(app, alice, { status: 'paused' });

t.test('An execution is compared with the last success before it', async (t) => {
  const task = await create();
  const first = await run(alice, task, 'The price is 12.5 today.');
  await run(alice, task, null);
  const last = await run(alice, task, 'The price is 11.9 today.');
  t.strictSame(await diff(last), {
    success: true,
    against: first,
    changes: [{ path: '', from: 'The price is 12.5 today.', to: 'The price is 11.9 today.' }],
    text: [
      { op: 'equal', text: 'The price is ' },
      { op: 'delete', text: '12.5' },
      { op: 'insert', text: '11.9' },
      { op: 'equal', text: ' today.' },
    ],
  });
});

t.test('Any two executions of a task are compared, by what it watches now', async (t) => {
  const task = await create();
  const answer = (price: number, stock: number) => [JSON.stringify({ price, stock }), { price, stock }] as const;
  const a = await run(alice, task, ...answer(1, 5));
  const b = await run(alice, task, ...answer(2, 5));
  const c = await run(alice, task, ...answer(3, 6));
  await ctx.db
    .update(tasks)
    .set({ watch: ['price'] })
    .where(eq(tasks.id, task));
  t.match(await diff(c), { against: b, changes: [{ path: 'price', from: 2, to: 3 }] });
  t.match(await diff(c, a), { against: a, changes: [{ path: 'price', from: 1, to: 3 }] });
  t.match(await diff(a, c), { against: c, changes: [{ path: 'price', from: 3, to: 1 }] });
  t.match(await diff(b, b), { against: b, changes: [], text: [{ op: 'equal' }] });
  await ctx.db
    .update(tasks)
    .set({ watch: ['stock'] })
    .where(eq(tasks.id, task));
  t.match(await diff(b, a), { changes: [] });
});

t.test('What an execution was compared with comes before a success with a lower id', async (t) => {
  const task = await create();
  const [a, b, c] = [await run(alice, task, 'A'), await run(alice, task, 'B'), await run(alice, task, 'C')];
  await ctx.db.update(executions).set({ comparedWithId: a }).where(eq(executions.id, c));
  t.equal((await diff(c)).against, a);
  await ctx.db.delete(executions).where(eq(executions.id, a));
  t.equal((await diff(c)).against, b, 'retention has deleted it');
});

t.test('Without a success before, or with an execution of another task, the answer is 404', async (t) => {
  const task = await create();
  const other = await run(alice, await create(), 'A');
  const first = await run(alice, task, 'A');
  const none = await get(alice, first);
  t.match([none.statusCode, none.json().error], [404, 'There is no earlier success to compare with']);
  for (const against of [other, 2_147_483_647])
    t.match(await get(alice, first, against), { statusCode: 404, body: /no execution with the id `against`/ });
});

t.test('An execution without a result is 409, on either side', async (t) => {
  const task = await create();
  const first = await run(alice, task, 'A');
  const failed = await run(alice, task, null);
  t.equal((await get(alice, failed)).statusCode, 409);
  t.equal((await get(alice, first, failed)).statusCode, 409);
});

t.test("A stranger's execution does not exist, on either side", async (t) => {
  const eve = await signUp(app);
  const task = await create();
  const [a, b] = [await run(alice, task, 'A'), await run(alice, task, 'B')];
  t.equal((await get(eve, b)).statusCode, 404);
  const own = await run(eve, await postTask(app, eve, { status: 'paused' }), 'C');
  t.equal((await get(eve, own, a)).statusCode, 404);
  t.equal((await get(alice, b, own)).statusCode, 404);
  for (const id of INVALID_IDS) t.match((await get(alice, b, id)).statusCode, 400, id);
  await assertNeedsSession(t, app, { url: `/api/executions/${b}/diff` });
});

t.test('Two results of a mebibyte that differ everywhere are compared', async (t) => {
  const task = await create();
  const text = (word: string) => `${word} \n`.repeat(260_000);
  await run(alice, task, text('a'));
  const { text: parts } = await diff(await run(alice, task, text('b')));
  t.strictSame(
    parts.map(({ op }: { op: string }) => op),
    ['delete', 'insert', 'equal'],
  );
});
