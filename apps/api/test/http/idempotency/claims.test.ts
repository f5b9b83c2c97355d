import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { connect, idempotencyKeys, tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { buildApp } from '../../../src/entry/app.ts';
import { rotateKeys } from '../../../src/lib/crypto/rotate-keys.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { testContext } from '../../support/context.ts';
import { countTasks, createTaskWithKey, postWithKey, readKeys } from '../../support/idempotency.ts';
import { signUp, signUpAlice } from '../../support/people.ts';
import { postTask, TASK } from '../../support/tasks.ts';
import { until } from '../../support/until.ts';

const { app, ctx, databaseUrl } = await testContext(t);
const alice = await signUpAlice(app);
t.beforeEach(async () => {
  await ctx.db.delete(tasks);
  await ctx.db.delete(idempotencyKeys);
});

/** Holds the lock that `createTask` waits for, until the returned function is called. */
async function lockAccount({ id }: { id: number }): Promise<() => Promise<void>> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const ended = inTransaction(ctx, async (tx) => {
    await tx.db.select({ id: users.id }).from(users).where(eq(users.id, id)).for('no key update');
    locked();
    await released;
  });
  await isLocked;
  return () => {
    release();
    return ended;
  };
}

const isClaimed = async (count = 1) => (await readKeys(ctx, alice)).length === count;
const expireLeases = () => ctx.db.update(idempotencyKeys).set({ leaseUntil: sql`now() - interval '1 second'` });

t.test('While the first request runs, its repetitions are 409 at once, with the same and another body', async (t) => {
  const unlock = await lockAccount(alice);
  const first = createTaskWithKey(app, alice, 'busy');
  await until(isClaimed);
  const again = await createTaskWithKey(app, alice, 'busy');
  t.equal(again.statusCode, 409);
  t.equal(again.headers['retry-after'], '1');
  t.match(again.json(), { success: false, error: 'Request in progress' });
  t.equal((await createTaskWithKey(app, alice, 'busy', { name: 'Other' })).statusCode, 409);
  await unlock();
  t.equal((await first).statusCode, 201);
  t.equal((await createTaskWithKey(app, alice, 'busy')).body, (await first).body);
  t.equal(await countTasks(ctx, alice), 1);
});

t.test('A request whose answer waits for its commit delays no repetition', async (t) => {
  const first = await createTaskWithKey(app, alice, 'committing');
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let locked = () => {};
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve;
  });
  await ctx.db.update(idempotencyKeys).set({ status: null, answerEncrypted: null, location: null });
  await expireLeases();
  const committing = inTransaction(ctx, async (tx) => {
    await tx.db.select().from(idempotencyKeys).for('update');
    locked();
    await ended;
  });
  await isLocked;
  t.equal((await createTaskWithKey(app, alice, 'committing')).statusCode, 409, first.body);
  end();
  await committing;
});

t.test('A request that lost its claim changes nothing', async (t) => {
  const unlock = await lockAccount(alice);
  const slow = createTaskWithKey(app, alice, 'lost');
  await until(isClaimed);
  await expireLeases();
  const second = createTaskWithKey(app, alice, 'lost');
  const [before] = await readKeys(ctx, alice);
  await until(async () => (await readKeys(ctx, alice))[0]?.claimToken !== before?.claimToken);
  await unlock();
  const statuses = [(await slow).statusCode, (await second).statusCode];
  t.same(statuses, [409, 201]);
  t.equal((await slow).headers.location, undefined);
  t.equal(await countTasks(ctx, alice), 1);
  t.equal(
    (await createTaskWithKey(app, alice, 'lost')).body,
    (await second).body,
    'the answer of the second is returned',
  );
});

t.test('The claim of a process whose connections have ended is free at once', async (t) => {
  const other = connect(databaseUrl, { max: 2 });
  const otherApp = await buildApp({ ...ctx, db: other.db }, { maxEventLoopDelayMs: Number.POSITIVE_INFINITY });
  t.teardown(() => otherApp.close());
  const unlock = await lockAccount(alice);
  const cut = createTaskWithKey(otherApp, alice, 'gone');
  await until(isClaimed);
  t.equal((await createTaskWithKey(app, alice, 'gone')).statusCode, 409);
  const [{ backendPid = null, claimToken = '' } = {}] = await readKeys(ctx, alice);
  await ctx.db.execute(sql`select pg_terminate_backend(${backendPid})`);
  const isThere = sql`select from pg_stat_activity where pid = ${backendPid}`;
  await until(async () => (await ctx.db.execute(isThere)).length === 0);
  // The cut request may be releasing its claim itself.
  const repeat = async (): ReturnType<typeof createTaskWithKey> => {
    const answer = await createTaskWithKey(app, alice, 'gone');
    return answer.statusCode === 409 ? repeat() : answer;
  };
  const next = repeat();
  await until(async () => {
    const [claim] = await readKeys(ctx, alice);
    return claim !== undefined && claim.claimToken !== claimToken;
  });
  await unlock();
  t.equal((await next).statusCode, 201);
  t.ok([409, 503].includes((await cut).statusCode), 'it lost its claim');
  t.equal(await countTasks(ctx, alice), 1);
  await other.close();
});

t.test('A client that hangs up during its body claims nothing', async (t) => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const socket = connectSocket(port, '127.0.0.1');
  await once(socket, 'connect');
  const head = ['POST /api/agent/create-task HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
  const headers = [`Authorization: ${alice.headers.authorization}`, 'Idempotency-Key: cut', 'Content-Length: 1000'];
  socket.write(`${[...head, ...headers].join('\r\n')}\r\n\r\n{"name":`);
  const [request] = (await once(app.server, 'request')) as [IncomingMessage];
  const hungUp = Promise.withResolvers<void>();
  request.on('close', hungUp.resolve);
  socket.destroy();
  await hungUp.promise;
  t.ok(await isClaimed(0));
  t.equal((await createTaskWithKey(app, alice, 'cut')).statusCode, 201);
});

t.test('A quota that the first request exhausts does not fail its repetition', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  let statusCode = 201;
  for (let n = 0; statusCode === 201; n++) ({ statusCode } = await createTaskWithKey(app, bob, `fill-${n}`));
  t.equal(statusCode, 402);
  const used = await countTasks(ctx, bob);
  t.equal((await createTaskWithKey(app, bob, `fill-${used - 1}`)).headers['idempotent-replayed'], 'true');
  t.equal((await createTaskWithKey(app, bob, `fill-${used}`)).statusCode, 402, 'a refusal is not stored');
  t.equal(await countTasks(ctx, bob), used);
});

t.test('The worker is woken after the commit, and for no replay', async (t) => {
  const wakes: boolean[] = [];
  const { app, ctx } = await testContext(t, {
    worker: { wakeExecutions: () => void wakes.push(true) },
  });
  const person = await signUp(app);
  const task = await postTask(app, person);
  const execute = (key: string) => postWithKey(app, person, `/api/tasks/${task}/execute`, key);
  await ctx.db.execute(sql`alter table idempotency_keys add constraint refuses_answers check (status is null)`);
  t.equal((await execute('rolled-back')).statusCode, 500);
  t.equal(wakes.length, 0);
  await ctx.db.execute(sql`alter table idempotency_keys drop constraint refuses_answers`);
  t.equal((await execute('committed')).statusCode, 201);
  t.equal((await execute('committed')).statusCode, 201);
  t.equal(wakes.length, 1);
});

t.test('Stored answers survive a rotation of the encryption keys', async (t) => {
  const first = await createTaskWithKey(app, alice, 'rotated');
  const [oldKey] = ctx.config.encryptionKeys;
  const newKey = { id: 'new', key: Buffer.alloc(32, 7) };
  if (!oldKey) throw new Error('There is no key.');
  for await (const { failures } of rotateKeys(ctx.db, [newKey, oldKey])) t.same(failures, []);
  const config = { ...ctx.config, encryptionKeys: [newKey] };
  const rotated = await buildApp({ ...ctx, config }, { maxEventLoopDelayMs: Number.POSITIVE_INFINITY });
  t.teardown(() => rotated.close());
  t.equal((await createTaskWithKey(rotated, alice, 'rotated')).body, first.body);
  const unreadable = await createTaskWithKey(app, alice, 'rotated');
  t.equal(unreadable.statusCode, 409, 'without the new key');
  t.notOk('retry-after' in unreadable.headers);
  t.equal(await countTasks(ctx, alice), 1);
});

t.test('A body of 16 MiB may carry a key', async (t) => {
  const answer = await postWithKey(app, alice, '/api/agent/create-task', 'large', {
    ...TASK,
    attachments: [`data:text/plain;base64,${'a'.repeat(12 * 1024 * 1024)}`],
  });
  t.equal(answer.statusCode, 400, 'which is not one of her files');
  t.match(answer.json().details, { attachments: ['item 1 is not one of your files'] });
});
