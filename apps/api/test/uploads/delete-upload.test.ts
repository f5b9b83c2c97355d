import { orphanedObjects, tasks, uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { SESSION_COOKIE } from '../../src/platform/http/credentials.ts';
import { deleteOrphanedObjects } from '../../src/product/uploads/orphaned-objects.ts';
import { findWrongTotals } from '../../src/product/uploads/totals.ts';
import { deleteUpload as deleteStored } from '../../src/product/uploads/write.ts';
import { assertNeedsSession } from '../support/access.ts';
import { testContext } from '../support/context.ts';
import { buildCaller } from '../support/engine.ts';
import { type Person, signUp } from '../support/people.ts';
import { postTask } from '../support/tasks.ts';
import {
  buildText,
  deleteAll,
  deleteUpload,
  getDetails,
  images,
  MIB,
  NO_UPLOADS,
  type Part,
  readUploadState,
  upload,
} from '../support/uploads.ts';

const { app, ctx } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const base64 = await testContext(t);
t.afterEach(() => Promise.all([deleteAll(ctx), deleteAll(base64.ctx)]));

const store = async (person: Person, part: Part = { content: 'hello' }, to = app) => {
  const response = await upload(to, person, part);
  if (response.statusCode !== 200) throw new Error(response.body);
  return { ...response.json(), id: response.headers['x-file-id'] };
};
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

t.test('A file is deleted by its URL or its id, and its bytes are removed', async (t) => {
  const alice = await signUp(app);
  const files = [await store(alice), await store(alice), await store(alice, { content: 'another' })];
  for (const [by, name] of [
    [{ url: files[0].url }, 'url'],
    [{ id: files[1].id }, 'id'],
  ] as const) {
    const response = await deleteUpload(app, alice, by);
    t.equal(response.statusCode, 200, name);
    t.same(response.json(), { success: true });
    t.equal((await deleteUpload(app, alice, by)).statusCode, 404, 'once');
  }
  t.match(await readUploadState(ctx, alice), { rows: 1, bytes: 7, files: 1 });
  t.same(
    (await ctx.db.select().from(orphanedObjects)).map(({ key, userId }) => ({ key, userId })).toSorted(),
    [...files.slice(0, 2).map(({ url }) => ({ key: url.split('/').at(-1), userId: null }))].toSorted(),
  );
  t.equal(await deleteOrphanedObjects(ctx), 2);
  t.same(await readUploadState(ctx, alice), { rows: 1, loose: 0, objects: 1, bytes: 7, files: 1 });
  t.match(await ctx.db.select().from(uploads), [{ id: files[2].id }], 'and no other');
  const usage = await app.inject({ url: '/api/usage', headers: alice.headers });
  t.equal(usage.json().usage.storage.usedBytes, 7);
});

t.test("The service returns the caller's tasks that have the file attached", async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const [file, other] = [await store(alice), await store(alice)];
  const first = await postTask(app, alice, { name: 'With it', aiModel: 'offline', attachments: [file.url] });
  await postTask(app, alice, { name: 'With another', aiModel: 'offline', attachments: [other.url] });
  const second = await postTask(app, alice, {
    name: 'With both',
    aiModel: 'offline',
    attachments: [other.id, file.id],
  });
  // No request can create this one: ids of other users are refused.
  const stolen = await postTask(app, bob, { name: 'Of Bob' });
  await ctx.db
    .update(tasks)
    .set({ attachments: [file.id] })
    .where(eq(tasks.id, stolen));
  t.same(await deleteStored(ctx, buildCaller(alice.id), { url: file.url }), [
    { id: first, name: 'With it' },
    { id: second, name: 'With both' },
  ]);
  const shown = await app.inject({ url: `/api/tasks/${second}`, headers: alice.headers });
  t.same(shown.json().task.attachments, [other.id, file.id], 'the task keeps the id');
});

t.test('The service returns at most 100 tasks', async (t) => {
  const alice = await signUp(app);
  const file = await store(alice);
  const id = await postTask(app, alice, { aiModel: 'offline', attachments: [file.id] });
  const [{ id: _, ...task } = {} as never] = await ctx.db.select().from(tasks).where(eq(tasks.id, id));
  await ctx.db.insert(tasks).values(Array.from({ length: 120 }, () => ({ ...task, externalId: '' })));
  const listed = await deleteStored(ctx, buildCaller(alice.id), { id: file.id });
  t.equal(listed.length, 100);
  t.equal(listed[0]?.id, id);
});

t.test("Another user's file is 403, a missing one is 404", async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const file = await store(alice);
  for (const by of [{ url: file.url }, { id: file.id }]) {
    const response = await deleteUpload(app, bob, by);
    t.equal(response.statusCode, 403);
    t.same(response.json(), { error: 'This file belongs to another user.' });
  }
  for (const by of [
    { id: UNKNOWN },
    { url: `${file.url}x` },
    { url: file.url.toUpperCase() },
    { url: 'file:///etc/passwd' },
    { url: `${file.url}/../../secrets.json` },
    { url: 'http://169.254.169.254/' },
    { url: '%' },
    { url: 'x'.repeat(15 * MIB) },
  ]) {
    const response = await deleteUpload(app, bob, by);
    t.equal(response.statusCode, 404, JSON.stringify(by).slice(0, 100));
    t.same(response.json(), { error: 'File not found' });
  }
  t.same(await readUploadState(ctx, alice), { rows: 1, loose: 0, objects: 1, bytes: 5, files: 1 });
});

t.test('Exactly one of url and id is accepted', async (t) => {
  const alice = await signUp(app);
  const file = await store(alice);
  for (const [body, field] of [
    [{}, 'url'],
    [{ url: file.url, id: file.id }, 'id'],
    [{ url: '' }, 'url'],
    [{ url: null }, 'url'],
    [{ url: [file.url] }, 'url'],
    [{ url: `${file.url}\0` }, 'url'],
    [{ id: '1' }, 'id'],
    [{ id: 7 }, 'id'],
    [{ key: 'x' }, 'key'],
    [{ id: file.id, force: true }, 'force'],
    [[], 'body'],
  ] as const) {
    const response = await deleteUpload(app, alice, body);
    t.equal(response.statusCode, 400, JSON.stringify(body));
    t.match(Object.keys(getDetails(response)), [field]);
  }
  const none = await app.inject({ method: 'DELETE', url: '/api/upload', headers: alice.headers });
  t.equal(none.statusCode, 400, 'no body');
  const long = await deleteUpload(app, alice, { url: 'x'.repeat(17 * MIB) });
  t.match([long.statusCode, long.json()], [400, { error: 'Body too large' }]);
  t.match(await readUploadState(ctx, alice), { rows: 1, files: 1 });
});

t.test('Data URLs of megabytes can be deleted', async (t) => {
  const { app, ctx } = base64;
  const alice = await signUp(app);
  const content = buildText(10 * MIB);
  const file = await store(alice, { content }, app);
  t.equal(file.storage, 'base64');
  t.equal(file.url, `data:text/plain;base64,${content.toString('base64')}`);
  t.same(
    await readUploadState(ctx, alice),
    { ...NO_UPLOADS, rows: 1, bytes: content.length, files: 1 },
    'nothing is loose',
  );
  t.equal((await deleteUpload(app, alice, { url: file.url })).statusCode, 200);
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
  t.equal((await deleteUpload(app, alice, { url: file.url })).statusCode, 404);
});

t.test("Of equal data URLs the caller's own is deleted", async (t) => {
  const { app, ctx, clock } = base64;
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const part = { name: 'a.png', content: images.png() };
  const first = await store(alice, part, app);
  await store(bob, part, app);
  clock.advance(1000);
  const second = await store(alice, part, app);
  t.equal(first.url, second.url);
  t.equal((await deleteUpload(app, alice, { url: first.url })).statusCode, 200);
  t.same(
    (await ctx.db.select().from(uploads).where(eq(uploads.userId, alice.id))).map(({ id }) => id),
    [first.id],
  );
  t.equal((await deleteUpload(app, bob, { url: first.url })).statusCode, 200);
  t.equal(
    (await deleteUpload(app, bob, { url: first.url })).statusCode,
    403,
    'then there is only the file of the other user',
  );
});

for (const round of [1, 2, 3, 4, 5]) {
  t.test(`One of several concurrent deletions succeeds, and the total is right (${round})`, async (t) => {
    const alice = await signUp(app);
    const files = await Promise.all([store(alice), store(alice), store(alice, { content: 'stays' })]);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        deleteUpload(app, alice, i % 4 < 2 ? { id: files[i % 2].id } : { url: files[i % 2].url }),
      ),
    );
    t.same(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 200, ...Array(18).fill(404)]);
    t.same(await readUploadState(ctx, alice), { rows: 1, loose: 2, objects: 3, bytes: 5, files: 1 });
    t.same(await findWrongTotals(ctx.db), []);
  });
}

t.test('A page of another site cannot delete with the cookie, and a deletion requires a session', async (t) => {
  const alice = await signUp(app);
  const file = await store(alice);
  const headers = { cookie: `${SESSION_COOKIE}=${alice.token}`, 'sec-fetch-site': 'cross-site' };
  t.equal((await deleteUpload(app, { headers } as never, { id: file.id })).statusCode, 403);
  await assertNeedsSession(t, app, { method: 'DELETE', url: '/api/upload', payload: { id: file.id } });
  t.match(await readUploadState(ctx, alice), { rows: 1 });
});
