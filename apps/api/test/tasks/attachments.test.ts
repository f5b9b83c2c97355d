import { randomUUID } from 'node:crypto';
import { uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { insertUpload, patchTask, postTask, readTask, TASK } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);

t.test('Files are named by URL or id, and stored once each, in order', async (t) => {
  const alice = await signUp(app);
  const first = await insertUpload(ctx, alice);
  const megabytes = Buffer.from(randomUUID().repeat(50_000)).toString('base64');
  const second = await insertUpload(ctx, alice, `data:text/plain;base64,${megabytes}`);
  const attachments = [second.url, first.id.toUpperCase(), first.url, second.id];
  const id = await postTask(app, alice, { attachments });
  t.same((await readTask(app, alice, id)).attachments, [second.id, first.id]);

  t.same((await patchTask(app, alice, id, { attachments: [first.url] })).json().task.attachments, [first.id]);
  t.same((await patchTask(app, alice, id, { attachments: [] })).json().task.attachments, []);
  t.same((await patchTask(app, alice, id, { attachments })).json().task.attachments, [second.id, first.id]);
  t.same((await patchTask(app, alice, id, { name: 'Other' })).json().task.attachments, [second.id, first.id]);
});

t.test('Ten files can be attached', async (t) => {
  const alice = await signUp(app);
  const ten = await Promise.all(Array.from({ length: 10 }, () => insertUpload(ctx, alice)));
  const attachments = ten.map(({ id }) => id);
  t.same((await readTask(app, alice, await postTask(app, alice, { attachments }))).attachments, attachments);
});

t.test('A file that is unknown or another user’s is rejected by its place', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  const [mine, his] = [await insertUpload(ctx, alice), await insertUpload(ctx, bob)];
  const attachments = [mine.id, his.id, mine.url, his.url, randomUUID(), "'; drop table uploads"];
  const id = await postTask(app, alice);
  const creation = { method: 'POST', url: '/api/agent/create-task', payload: { ...TASK, attachments } } as const;
  for (const answer of [
    await app.inject({ ...creation, headers: alice.headers }),
    await patchTask(app, alice, id, { attachments }),
  ]) {
    t.equal(answer.statusCode, 400);
    t.same(answer.json().details, { attachments: [2, 4, 5, 6].map((item) => `item ${item} is not one of your files`) });
  }
  t.same((await readTask(app, alice, id)).attachments, []);
});

t.test('Files of more than 20 MiB together are rejected, whether named by URL or id', async (t) => {
  const alice = await signUp(app);
  const [half, other, byte] = await Promise.all([
    insertUpload(ctx, alice),
    insertUpload(ctx, alice),
    insertUpload(ctx, alice),
  ]);
  for (const { id } of [half, other])
    await ctx.db
      .update(uploads)
      .set({ size: 10 * 1024 * 1024 })
      .where(eq(uploads.id, id));
  const exactly = [half.id, other.url, half.url, other.id];
  const id = await postTask(app, alice, { attachments: exactly });
  t.same((await readTask(app, alice, id)).attachments, [half.id, other.id], 'a file that is named twice counts once');
  const attachments = [...exactly, byte.id];
  const creation = { method: 'POST', url: '/api/agent/create-task', payload: { ...TASK, attachments } } as const;
  for (const answer of [
    await app.inject({ ...creation, headers: alice.headers }),
    await patchTask(app, alice, id, { attachments }),
  ]) {
    t.equal(answer.statusCode, 400);
    t.same(answer.json().details, { attachments: ['must have at most 20 MiB together'] });
  }
  t.same((await readTask(app, alice, id)).attachments, [half.id, other.id]);
});
