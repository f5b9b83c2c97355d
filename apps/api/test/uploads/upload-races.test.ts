import { orphanedObjects, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { AppError } from '../../src/errors.ts';
import { TIMEOUTS } from '../../src/platform/http/server.ts';
import {
  completeUpload,
  discardUpload,
  LEASE_MS,
  type NewUpload,
  reserveUpload,
} from '../../src/product/uploads/reservation.ts';
import { findWrongTotals } from '../../src/product/uploads/totals.ts';
import { testContext } from '../support/context.ts';
import { connectionLost } from '../support/database.ts';
import { type Person, signUp } from '../support/people.ts';
import { buildText, deleteAll, MIB, NO_UPLOADS, readUploadState, setStorageUsed, upload } from '../support/uploads.ts';

const { app, ctx, clock } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
t.afterEach(() => deleteAll(ctx));

/** `done`, or the kind of the error. */
const endOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error) => {
      if (error instanceof AppError) return error.kind;
      throw error;
    },
  );
const count = (ends: unknown[]) =>
  Object.fromEntries([...new Set(ends)].map((end) => [end, ends.filter((other) => other === end).length]));

let files = 0;
function newUpload(key: string, size: number): NewUpload {
  files += 1;
  const id = `00000000-0000-4000-8000-${String(files).padStart(12, '0')}`;
  const url = `https://files.example.com/${key}`;
  return { id, name: 'a.txt', type: 'text/plain', size, storage: 'blob', storageKey: key, url, uploadedAt: ctx.now() };
}

/** Running uploads of a user, more than allowed. */
async function underWay({ id: userId }: Person, length: number): Promise<string[]> {
  const keys = Array.from({ length }, (_, i) => `${userId}-${i}.txt`);
  const deleteAfter = new Date(ctx.now().getTime() + LEASE_MS);
  await ctx.db.insert(orphanedObjects).values(keys.map((key) => ({ key, userId, deleteAfter })));
  return keys;
}

/** A storage that blocks every file until it is released. */
function holdStorage(t: Test) {
  const { store } = ctx.files;
  const gate = Promise.withResolvers<void>();
  let active = 0;
  let most = 0;
  Object.assign(ctx.files, {
    store: async (...given: Parameters<typeof store>) => {
      active += 1;
      most = Math.max(most, active);
      await gate.promise;
      return store(...given).finally(() => {
        active -= 1;
      });
    },
  });
  t.teardown(() => Object.assign(ctx.files, { store }));
  return { open: () => gate.resolve(), active: () => active, most: () => most };
}

for (let round = 1; round <= 10; round++) {
  t.test(`One of 200 concurrent files is stored if one fits (${round})`, async (t) => {
    const alice = await signUp(app);
    await setStorageUsed(ctx, alice, 100 * MIB - 10);
    const keys = await underWay(alice, 200);
    const ends = await Promise.all(keys.map((key) => endOf(completeUpload(ctx, alice, key, newUpload(key, 10)))));
    t.same(count(ends), { done: 1, over_quota: 199 });
    t.match(await readUploadState(ctx, alice), { rows: 1, loose: 199, bytes: 100 * MIB, files: 1 });
  });
}

t.test('3 of 200 concurrent reservations succeed', async (t) => {
  const alice = await signUp(app);
  const ends = await Promise.all(Array.from({ length: 200 }, () => endOf(reserveUpload(ctx, alice, 'txt'))));
  t.same(count(ends), { done: 3, rate_limited: 197 });
});

for (let round = 1; round <= 3; round++) {
  t.test(`3 of 20 concurrent uploads run, and the others are 429 (${round})`, async (t) => {
    const alice = await signUp(app);
    const bob = await signUp(app, { name: 'Bob' });
    const storage = holdStorage(t);
    let refused = 0;
    const all = Promise.all(
      Array.from({ length: 20 }, async () => {
        const response = await upload(app, alice, { content: buildText(MIB) });
        if (response.statusCode === 429) refused += 1;
        if (refused === 17) storage.open();
        return response;
      }),
    );
    const his = upload(app, bob, { content: 'hello' });
    const answers = await all;
    t.same(count(answers.map(({ statusCode }) => statusCode)), { 200: 3, 429: 17 });
    t.equal((await his).statusCode, 200, 'other requests are not affected');
    t.equal(storage.most(), 4, '3 of hers and 1 of his');
    const answer = answers.find(({ statusCode }) => statusCode === 429);
    const reset = ctx.now().getTime() + 5000;
    t.match(answer?.json(), {
      success: false,
      error: 'Rate limit exceeded',
      message: /^3 of your uploads/,
      details: { limit: 3, remaining: 0, reset, resetIn: 5, retryAfter: 5 },
    });
    t.equal(answer?.headers['retry-after'], '5');
    t.match(await readUploadState(ctx, alice), { rows: 3, loose: 0, objects: 4, bytes: 3 * MIB });
    const usage = await app.inject({ url: '/api/usage', headers: alice.headers });
    t.match(usage.json().usage.rateLimits, { hitToday: 17, endpoints: [{ endpoint: 'POST /api/upload', hits: 17 }] });
    t.equal((await upload(app, alice, { content: 'next' })).statusCode, 200, 'and then there is a place again');
  });
}

t.test('The totals equal the sums after concurrent changes', async (t) => {
  const people = await Promise.all(Array.from({ length: 4 }, () => signUp(app)));
  const kept = people.map(() => 0);
  await Promise.all(
    people.flatMap((person, i) =>
      Array.from({ length: 15 }, async (_, n) => {
        const response = await upload(app, person, { content: buildText(n * 100 + i) });
        if (response.statusCode !== 200) return;
        if (n % 2) {
          kept[i] = (kept[i] ?? 0) + 1;
          return;
        }
        const id = response.headers['x-file-id'];
        const headers = person.headers;
        await app.inject({ method: 'DELETE', url: '/api/upload', headers, payload: { id } });
      }),
    ),
  );
  t.same(await findWrongTotals(ctx.db), []);
  for (const [i, person] of people.entries()) t.equal((await readUploadState(ctx, person)).files, kept[i]);
});

t.test('A slot that is not released is free when its lease ends', async (t) => {
  const alice = await signUp(app);
  const keys = await Promise.all(Array.from({ length: 3 }, () => reserveUpload(ctx, alice, 'txt')));
  clock.advance(LEASE_MS - 1);
  t.equal(await endOf(reserveUpload(ctx, alice, 'txt')), 'rate_limited');
  clock.advance(1);
  t.equal(await endOf(reserveUpload(ctx, alice, 'txt')), 'done');
  const [key = ''] = keys;
  t.equal(
    await endOf(completeUpload(ctx, alice, key, newUpload(key, 10))),
    'unavailable',
    'and what it was for is lost',
  );
  t.match(await readUploadState(ctx, alice), { rows: 0, bytes: 0 });
  t.ok(LEASE_MS >= TIMEOUTS.requestMs + 60_000, 'no request takes that long');
});

t.test('Uploads that an outage of the database interrupts take no slot after it', async (t) => {
  const alice = await signUp(app);
  const { transaction, update } = ctx.db;
  t.teardown(() => Object.assign(ctx.db, { transaction, update }));
  const away = () => Promise.reject(connectionLost());
  Object.assign(ctx.db, {
    // The reservation is committed without an answer, and nothing can be discarded at first.
    transaction: (...given: Parameters<typeof transaction>) => transaction.apply(ctx.db, given).then(away),
    update: () => ({ set: () => ({ where: away }) }),
  });
  const answers = await Promise.all(Array.from({ length: 3 }, () => upload(app, alice, { content: 'hello' })));
  t.same(count(answers.map(({ statusCode }) => statusCode)), { 503: 3 });
  t.match(await readUploadState(ctx, alice), { rows: 0, loose: 3 });
  Object.assign(ctx.db, { transaction, update });
  while ((await readUploadState(ctx, alice)).loose > 0) await new Promise(setImmediate);
  t.equal((await upload(app, alice, { content: 'hello' })).statusCode, 200);
});

t.test('An upload whose object was cleaned up fails', async (t) => {
  const alice = await signUp(app);
  const key = await reserveUpload(ctx, alice, 'txt');
  await ctx.db.delete(orphanedObjects);
  t.equal(await endOf(completeUpload(ctx, alice, key, newUpload(key, 10))), 'unavailable');
});

t.test('A committed file stays, even if the answer of the database was lost', async (t) => {
  const alice = await signUp(app);
  const { url } = (await upload(app, alice, { content: 'hello' })).json();
  await discardUpload(ctx, url.split('/').at(-1));
  t.same(await readUploadState(ctx, alice), { rows: 1, loose: 0, objects: 1, bytes: 5, files: 1 });
});

t.test('An object that cannot be removed is left to the cleanup and takes no slot', async (t) => {
  const alice = await signUp(app);
  const { remove } = ctx.files;
  t.teardown(() => Object.assign(ctx.files, { remove }));
  Object.assign(ctx.files, {
    remove: async () => {
      throw new Error('The storage is away.');
    },
  });
  for (let i = 0; i < 5; i++) t.equal((await upload(app, alice, { name: 'a.json', content: '\0' })).statusCode, 400);
  const left = await ctx.db.select().from(orphanedObjects);
  t.same(
    left.map(({ userId, deleteAfter }) => [userId, deleteAfter]),
    Array(5).fill([null, ctx.now()]),
  );
});

t.test('An account that is deleted during an upload leaves nothing of it', async (t) => {
  const alice = await signUp(app);
  const storage = holdStorage(t);
  const uploading = upload(app, alice, { content: buildText(MIB) });
  while (storage.active() === 0) await new Promise(setImmediate);
  await ctx.db.delete(users).where(eq(users.id, alice.id));
  storage.open();
  const response = await uploading;
  t.equal(response.statusCode, 401);
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
});
