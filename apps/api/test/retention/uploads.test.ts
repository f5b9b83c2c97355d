import { DAY_MS } from '@carillon/contract/primitives';
import type { CreateTaskInput } from '@carillon/contract/tasks';
import { orphanedObjects, tasks, uploads } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import type { Caller } from '../../src/context.ts';
import { createPruner, pruneAll } from '../../src/product/retention/prune.ts';
import { createTask } from '../../src/product/tasks/write.ts';
import { deleteOrphanedObjects } from '../../src/product/uploads/orphaned-objects.ts';
import { findWrongTotals } from '../../src/product/uploads/totals.ts';
import { inTransaction } from '../../src/transaction.ts';
import { START, testContext } from '../support/context.ts';
import { findCallerByToken, type Person, signUp } from '../support/people.ts';
import { insertUpload, patchTask, postTask, TASK } from '../support/tasks.ts';
import { deleteAll, NO_UPLOADS, readUploadState, upload } from '../support/uploads.ts';

const env = { STORAGE_DRIVER: 'disk', RETENTION_FILES_DAYS: '10' };
const { app, ctx, clock } = await testContext(t, { env });
t.beforeEach(() => clock.set(START));
t.afterEach(async () => {
  const wrong = await findWrongTotals(ctx.db);
  await deleteAll(ctx);
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
});

const TEXT = { name: 'notes.txt', content: 'Bells.' };
/** Files uploaded `ms` before the start of the test clock. */
async function insertOld(person: Person, count: number, ms = 11 * DAY_MS) {
  clock.set(new Date(START.getTime() - ms));
  const files = [];
  for (let i = 0; i < count; i++) files.push(await insertUpload(ctx, person));
  clock.set(START);
  return files as [Uploaded, ...Uploaded[]];
}
type Uploaded = Awaited<ReturnType<typeof insertUpload>>;
const left = async () =>
  (await ctx.db.select({ id: uploads.id }).from(uploads).orderBy(asc(uploads.id))).map(({ id }) => id);

t.test('A file that no task uses is deleted after the configured days, and its quota is free again', async (t) => {
  const alice = await signUp(app);
  await upload(app, alice, TEXT);
  clock.advance(10 * DAY_MS);
  await pruneAll(ctx);
  t.equal((await readUploadState(ctx, alice)).rows, 1);
  clock.advance(1);
  await pruneAll(ctx);
  t.same(await readUploadState(ctx, alice), { ...NO_UPLOADS, loose: 1, objects: 1 });
  await deleteOrphanedObjects(ctx);
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
});

t.test('A file that a task uses is never pruned, in any state of the task', async (t) => {
  const alice = await signUp(app);
  const [one, two] = (await insertOld(alice, 2, 400 * DAY_MS)) as [Uploaded, Uploaded];
  const id = await postTask(app, alice, { attachments: [one.id, two.url] });
  await patchTask(app, alice, id, { status: 'paused' });
  await pruneAll(ctx);
  t.same(await left(), [one.id, two.id].sort());
  t.equal((await patchTask(app, alice, id, { attachments: [one.id] })).statusCode, 200);
  await pruneAll(ctx);
  t.same(await left(), [one.id]);
  await ctx.db.delete(tasks);
  await pruneAll(ctx);
  t.same(await left(), []);
});

t.test('Files are never deleted by default', async (t) => {
  const other = await testContext(t);
  t.equal(other.ctx.config.retention.filesDays, 0);
  await insertUpload(other.ctx, await signUp(other.app));
  other.clock.advance(20_000 * DAY_MS);
  await pruneAll(other.ctx);
  t.equal(await other.ctx.db.$count(uploads), 1);
});

t.test('Data URLs are pruned and leave no orphaned object', async (t) => {
  const alice = await signUp(app);
  const [{ id }] = await insertOld(alice, 1);
  await ctx.db.update(uploads).set({ storage: 'base64', storageKey: null }).where(eq(uploads.id, id));
  await pruneAll(ctx);
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
});

t.test('Several pruners at once delete each file once', async (t) => {
  const people = [await signUp(app), await signUp(app), await signUp(app)];
  for (const person of people) await insertOld(person, 40);
  const fresh = await insertUpload(ctx, people[0] as (typeof people)[0]);
  await Promise.all([pruneAll(ctx), createPruner(ctx)(), pruneAll(ctx)]);
  t.same(await left(), [fresh.id]);
  t.equal(await ctx.db.$count(orphanedObjects), 120);
});

t.test('A task created during pruning either keeps its file or is refused', async (t) => {
  const alice = await signUp(app);
  const ids = (await insertOld(alice, 60)).map(({ id }) => id);
  const create = (id: string) =>
    app.inject({
      ...{ method: 'POST', url: '/api/agent/create-task', headers: alice.headers },
      payload: { ...TASK, status: 'paused', attachments: [id] },
    });
  const [answers] = await Promise.all([Promise.all(ids.map(create)), pruneAll(ctx), pruneAll(ctx)]);
  const there = new Set(await left());
  for (const [at, { statusCode }] of answers.entries()) {
    t.equal(statusCode, there.has(ids[at] as string) ? 201 : 400);
  }
  t.same(await ctx.db.$count(tasks), there.size);
});

t.test('A file that is being attached to a task is skipped without waiting', async (t) => {
  const alice = await signUp(app);
  const caller = await findCallerByToken(ctx, alice.token);
  const [one] = await insertOld(alice, 2);
  await inTransaction(ctx, async (tx) => {
    await createTask(tx, caller as Caller, { ...TASK, attachments: [one.id] } as CreateTaskInput);
    await pruneAll(ctx);
  });
  t.same(await left(), [one.id]);
});
