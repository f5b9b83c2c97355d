import { idempotencyKeys, tasks } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { createKeyLockRequest, type KeyLock, lockKey } from '../../../src/platform/http/idempotency/key-lock.ts';
import { decryptResponse, releaseKey, storeResponse } from '../../../src/platform/http/idempotency/stored-responses.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { testContext } from '../../support/context.ts';
import { countTasks, createTaskWithKey, postWithKey, readKeys } from '../../support/idempotency.ts';
import { signUp } from '../../support/people.ts';
import { postTask } from '../../support/tasks.ts';

const { app, ctx } = await testContext(t);
const KIB = 1024;
const MIB = 1024 * KIB;

const claim = (userId: number, key: string): Promise<KeyLock> => lockKey(ctx, userId, createKeyLockRequest(key, null));

/** Stores an answer of so many bytes as a request does, and returns whether it can be repeated. */
async function keep(userId: number, key: string, bytes: number): Promise<boolean> {
  const mine = await claim(userId, key);
  const answer = { fingerprint: 'a', status: 200, location: null, body: 'x'.repeat(bytes) };
  t.ok(await inTransaction(ctx, (tx) => storeResponse(tx, mine, answer)));
  const again = await claim(userId, key);
  if (typeof again.state === 'string') throw new Error(again.state);
  try {
    return decryptResponse(ctx, again, again.state, 'a').body.length === bytes;
  } catch (error) {
    t.match(error, { kind: 'conflict', message: /its answer was not kept/ });
    return false;
  }
}

const countBytes = async (userId: number) => {
  const [row] = await ctx.db
    .select({ bytes: sql<number>`sum(answer_bytes)::int` })
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.userId, userId));
  return row?.bytes;
};

t.test('An answer of more than 64 KiB is not kept, and its request runs once all the same', async (t) => {
  const alice = await signUp(app);
  t.equal(await keep(alice.id, 'fits', 64 * KIB), true);
  t.equal(await keep(alice.id, 'too large', 64 * KIB + 1), false);
  const [large, small] = ['x'.repeat(65 * KIB), 'x'];
  for (const [prompt, status] of [
    [small, 201],
    [large, 409],
  ] as const) {
    const id = await postTask(app, alice);
    await ctx.db.update(tasks).set({ prompt }).where(eq(tasks.id, id));
    const url = `/api/tasks/${id}/duplicate`;
    const first = await postWithKey(app, alice, url, 'copy', { name: 'Copy' });
    t.equal(first.statusCode, 201, first.body);
    const count = await countTasks(ctx, alice);
    const again = await postWithKey(app, alice, url, 'copy', { name: 'Copy' });
    t.equal(again.statusCode, status, again.body);
    t.equal(again.headers['retry-after'], undefined);
    t.equal((await postWithKey(app, alice, url, 'copy', { name: 'Other' })).statusCode, 422);
    t.equal(await countTasks(ctx, alice), count);
  }
  const sealed = (await readKeys(ctx, alice)).map(({ answerEncrypted }) => answerEncrypted?.length ?? 0);
  t.ok(Math.max(...sealed) < 100 * KIB);
});

t.test('The answers of a user have 32 MiB together, also when they are stored at once', async (t) => {
  const [alice, bob] = await Promise.all([signUp(app), signUp(app)]);
  const one = 64 * KIB;
  const filled = 32 * MIB - 4 * one;
  await ctx.db.execute(sql`insert into idempotency_keys
    (id, user_id, claim_token, claimed_at, lease_until, status, answer_encrypted, answer_bytes, expires_at)
    select ${alice.id} || ':filled ' || n, ${alice.id}, gen_random_uuid(), now(), now(), 200, 'x', ${filled / 4}, now() + interval '1 day'
    from generate_series(1, 4) n`);
  const kept = await Promise.all(Array.from({ length: 12 }, (_, at) => keep(alice.id, `at once ${at}`, one)));
  t.equal(kept.filter((isKept) => isKept).length, 4);
  t.equal(await countBytes(alice.id), 32 * MIB);
  t.equal(await keep(alice.id, 'one byte', 1), false);
  t.equal(await keep(bob.id, 'at once 0', one), true, 'another user has room');
  const created = await createTaskWithKey(app, alice, 'full');
  t.equal(created.statusCode, 201, created.body);
  t.equal((await createTaskWithKey(app, alice, 'full')).statusCode, 409);
  t.equal(await countTasks(ctx, alice), 1);
});

t.test('What is released or deleted makes room again', async (t) => {
  const alice = await signUp(app);
  await keep(alice.id, 'gone', 60 * KIB);
  await releaseKey(ctx, await claim(alice.id, 'failed'));
  await ctx.db.delete(idempotencyKeys).where(eq(idempotencyKeys.id, `${alice.id}:gone`));
  t.equal(await countBytes(alice.id), null);
  t.equal(await keep(alice.id, 'gone', 60 * KIB), true);
});
