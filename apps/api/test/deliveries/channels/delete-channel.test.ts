import { auditLog, endpoints, events, queryRows, tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../../src/context.ts';
import { deleteChannel } from '../../../src/product/deliveries/channels/delete.ts';
import { duplicateTask } from '../../../src/product/tasks/duplicate.ts';
import { changeTask, createTask } from '../../../src/product/tasks/write.ts';
import { changeUserSettings } from '../../../src/product/users/write.ts';
import { callChannel, postChannel } from '../../support/channels.ts';
import { START, testContext } from '../../support/context.ts';
import { findCallerByToken, type Person, signUp } from '../../support/people.ts';
import { postTask, TASK } from '../../support/tasks.ts';
import { connectSecondProcess } from '../../support/webhooks.ts';

const INPUT = { ...TASK, recurrence: 'daily' } as const;
const test = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
const { app, ctx, clock } = test;
const second = connectSecondProcess(t, test);
t.beforeEach(() => clock.set(START));

const patchSettings = ({ headers }: Person, channels: string[]) =>
  app.inject({ method: 'PATCH', url: '/api/user/settings', headers, payload: { channels } });
const findDangling = () =>
  queryRows(
    ctx.db,
    sql`select t.id from tasks t, unnest(t.channels) c where not exists (select from endpoints h where h.id = c)`,
  );
const readSettings = async ({ headers }: Person) => app.inject({ url: '/api/user/settings', headers });

t.test('A deleted channel leaves the tasks and the settings that named it, whose ETags change', async (t) => {
  const alice = await signUp(app);
  const [one, two] = [await postChannel(app, alice), await postChannel(app, alice, { name: 'Desk' })];
  const taskId = await postTask(app, alice, { channels: [one.id, two.id] });
  await patchSettings(alice, [one.id]);
  const before = await readSettings(alice);
  t.same(before.json().settings.channels, [one.id]);
  t.match((await callChannel(app, alice, 'GET', one.id)).json(), { channel: { isForAccount: true } });

  clock.advance(1000);
  const etag = String((await callChannel(app, alice, 'GET', two.id)).headers.etag);
  const refused = await app.inject({
    method: 'DELETE',
    url: `/api/channels/${one.id}`,
    headers: { ...alice.headers, 'if-match': etag },
  });
  t.equal(refused.statusCode, 412);
  t.equal((await callChannel(app, alice, 'DELETE', one.id)).statusCode, 200);
  t.equal((await callChannel(app, alice, 'DELETE', one.id)).statusCode, 404);

  t.match((await ctx.db.select().from(tasks).where(eq(tasks.id, taskId)))[0], { channels: [two.id], revision: 2 });
  const after = await readSettings(alice);
  t.same(after.json().settings.channels, []);
  t.not(after.headers.etag, before.headers.etag);
  t.match((await ctx.db.select().from(users).where(eq(users.id, alice.id)))[0], { revision: 3 });
  const logged = await ctx.db.select().from(events).where(eq(events.userId, alice.id));
  t.match(logged.at(-1), { kinds: ['task.updated'] });
  t.match(JSON.parse(String(logged.at(-1)?.data)), { changes: { channels: { from: [one.id, two.id], to: [two.id] } } });
  t.match(await ctx.db.select().from(auditLog).where(eq(auditLog.kind, 'channel.deleted')), [
    { userId: alice.id, details: { channelId: one.id, kind: 'ntfy', name: 'Phone' } },
  ]);
});

t.test('The settings take the channels of the account only, and name the place of any other', async (t) => {
  const alice = await signUp(app);
  const bob = await signUp(app);
  const [one, two] = [await postChannel(app, alice), await postChannel(app, alice)];
  const his = await postChannel(app, bob);
  const refused = await patchSettings(alice, [one.id, his.id]);
  t.equal(refused.statusCode, 400);
  t.match(refused.json().details, { channels: ['item 2 is not one of your channels'] });
  t.same((await patchSettings(alice, [one.id.toUpperCase(), one.id, two.id])).json().settings.channels.length, 2);
  t.same((await patchSettings(alice, [two.id])).json().settings.channels, [two.id]);
  const answer = await app.inject({
    method: 'PATCH',
    url: '/api/user/settings',
    headers: alice.headers,
    payload: { notificationPreferences: { email: false } },
  });
  t.same(answer.json().settings.channels, [two.id], 'left out, they stay');
  t.same((await patchSettings(alice, [])).json().settings.channels, []);
});

t.test(
  'No task or copy keeps a channel that is deleted while it is saved, and no request fails by a deadlock',
  async (t) => {
    const alice = await signUp(app);
    const caller = (await findCallerByToken(ctx, alice.token))!;
    const existing = await postTask(app, alice);
    for (let round = 0; round < 6; round++) {
      const { id } = await postChannel(app, alice);
      const pool = (n: number): Context => (n % 2 ? ctx : second);
      const source = await postTask(app, alice, { channels: [id], status: 'paused' });
      const works: (() => Promise<unknown>)[] = [
        ...Array.from(
          { length: 6 },
          (_, n) => () => changeTask(pool(n), caller, existing, { channels: [id], name: `${n}` }),
        ),
        () => createTask(second, caller, { ...INPUT, status: 'paused', channels: [id] }),
        () => createTask(ctx, caller, { ...INPUT, status: 'active', channels: [id] }),
        () => duplicateTask(ctx, caller, source),
        () => changeUserSettings(second, caller, { channels: [id] }),
        () => changeUserSettings(ctx, caller, { channels: [] }),
      ];
      works.splice(round + 1, 0, () => deleteChannel(second, caller, id));
      const results = await Promise.allSettled(works.map((work) => work()));
      const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      for (const error of errors) t.equal(error.kind, 'invalid', String(error.stack));
      t.equal(await ctx.db.$count(endpoints, eq(endpoints.id, id)), 0);
      t.same(await findDangling(), []);
      await ctx.db.delete(tasks).where(sql`${tasks.userId} = ${alice.id} and ${tasks.id} <> ${existing}`);
    }
  },
);
