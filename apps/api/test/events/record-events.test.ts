import { eventPositions, events, tasks } from '@carillon/db';
import { databaseErrorCode, SQLSTATE } from '@carillon/db/errors';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import { recordEvents } from '../../src/platform/events/outbox.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { afterCommit, inTransaction } from '../../src/transaction.ts';
import { captureEvents } from '../support/deliveries.ts';
import { testEngine } from '../support/engine.ts';
import { signUpBob } from '../support/people.ts';
import { insertTask } from '../support/task-rows.ts';
import { connectSecondProcess } from '../support/webhooks.ts';

const test = await testEngine(t);
const { app, ctx, alice, newWorker } = test;
const other = connectSecondProcess(t, test);

const record = (in_: Context, userId: number, n: number, count = 1) =>
  inTransaction(in_, async (tx) =>
    recordEvents(
      tx,
      Array.from({ length: count }, (_, i) => ({ kind: 'task.updated' as const, userId, data: { n: n + i } })),
    ),
  );
const readRows = (userId: number) =>
  ctx.db.select().from(events).where(eq(events.userId, userId)).orderBy(asc(events.id));
const readLog = async (userId: number) =>
  (await readRows(userId)).flatMap(({ id, kinds, ...row }) =>
    kinds.map((event, n) => ({ ...row, event, id: id - kinds.length + 1 + n })),
  );

t.test('A run is logged in the order of its events, with the data that webhooks get', async (t) => {
  const receivedEvents = await captureEvents(ctx, alice() as never);
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const logged = await readLog(alice().id);
  const kinds = ['task.started', 'execution.started', 'task.completed', 'execution.completed'];
  t.same(
    logged.map(({ event }) => event),
    kinds,
  );
  t.same(
    logged.map(({ id }) => id),
    [1, 2, 3, 4],
  );
  t.equal((await readRows(alice().id)).length, 2, 'both events of a change share their data');
  const sent = await receivedEvents();
  t.equal(sent.length, 4);
  for (const { event, timestamp, data } of sent) {
    const entry = logged.find((one) => one.event === event);
    t.equal(entry?.data, JSON.stringify(data), event);
    t.equal(entry?.createdAt.toISOString(), timestamp);
  }
});

t.test('An event that cannot be written rolls its change back', async (t) => {
  const before = await ctx.db.$count(events);
  const taskId = await insertTask(ctx, alice().id, { name: 'Before' });
  const broken = [{ kind: 'task.updated' as const, userId: -1, data: {} }];
  let isCommitted = false;
  const failure = await inTransaction(ctx, async (tx) => {
    await tx.db.update(tasks).set({ name: 'After' }).where(eq(tasks.id, taskId));
    afterCommit(tx, () => {
      isCommitted = true;
    });
    recordEvents(tx, broken);
  }).catch((error) => error);
  t.equal(databaseErrorCode(failure), SQLSTATE.foreignKeyViolation);
  t.notOk(isCommitted);
  const [task] = await ctx.db.select({ name: tasks.name }).from(tasks).where(eq(tasks.id, taskId));
  t.equal(task?.name, 'Before');
  t.equal(await ctx.db.$count(events), before);
});

t.test('A rolled-back change leaves no event and no gap', async (t) => {
  await record(ctx, alice().id, 0);
  await t.rejects(
    inTransaction(ctx, async (tx) => {
      recordEvents(tx, [{ kind: 'test', userId: alice().id, data: {} }]);
      throw new Error('undone');
    }),
  );
  await inTransaction(ctx, (tx) =>
    inTransaction(tx, async (inner) => recordEvents(inner, [{ kind: 'test', userId: alice().id, data: {} }])),
  );
  t.match(await readLog(alice().id), [
    { id: 1, event: 'task.updated' },
    { id: 2, event: 'test' },
  ]);
});

t.test('An event outside of a transaction is a bug that is found at once', async (t) => {
  t.throws(() => recordEvents(ctx, [{ kind: 'test', userId: alice().id, data: {} }]), /transaction/);
});

t.test('Events that an inbound webhook causes are logged, although webhooks do not get them', async (t) => {
  const receivedEvents = await captureEvents(ctx, alice() as never);
  const event = { userId: alice().id, data: {}, viaWebhook: true };
  await inTransaction(ctx, async (tx) => recordEvents(tx, [{ kind: 'task.updated', ...event }]));
  t.equal((await readLog(alice().id)).length, 1);
  t.same(await receivedEvents(), []);
});

t.test('Webhooks get what an inbound webhook caused only as events of runs, and the log has all of it', async (t) => {
  const receivedEvents = await captureEvents(ctx, alice() as never);
  const execution = { id: 1, status: 'running', startedAt: ctx.now().toISOString(), estimatedDurationMs: 1 };
  const data = { task: { id: 1, name: 'a\n"b"\\{c},\u2028\u0007null' }, execution };
  const event = { userId: alice().id, viaWebhook: true, data };
  await inTransaction(ctx, async (tx) =>
    recordEvents(tx, [
      { kind: 'task.started', ...event },
      { kind: 'execution.started', ...event },
    ]),
  );
  t.match(await readLog(alice().id), [
    { id: 1, event: 'task.started', data: JSON.stringify(data) },
    { id: 2, event: 'execution.started', data: JSON.stringify(data) },
  ]);
  const sent = await receivedEvents();
  t.equal(sent.length, 1);
  t.match(sent, [{ event: 'execution.started', data }]);
});

t.test('No transaction over many users is lost in any order, and the ids of each user have no gap', async (t) => {
  const users = [alice().id, (await signUpBob(app)).id];
  await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      inTransaction(n % 2 ? ctx : other, async (tx) => {
        for (const userId of n % 3 ? users : users.toReversed()) {
          recordEvents(tx, [{ kind: 'task.updated', userId, data: { n } }]);
        }
      }),
    ),
  );
  for (const userId of users) {
    const logged = await readLog(userId);
    t.same(
      logged.map(({ id }) => id),
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
    t.equal(new Set(logged.map(({ data }) => data)).size, 100);
    const [position] = await ctx.db.select().from(eventPositions).where(eq(eventPositions.userId, userId));
    t.equal(position?.lastId, 100);
  }
});

t.test('Events become visible in the order of their ids, regardless of the order of the commits', async (t) => {
  let isWriting = true;
  const writing = Promise.all(
    Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; n < 40; n++) await record(writer % 2 ? ctx : other, alice().id, n, 1 + (n % 3));
    }),
  ).finally(() => {
    isWriting = false;
  });
  let last = 0;
  while (isWriting) {
    const ids = (await readLog(alice().id)).map(({ id }) => id);
    t.same(
      ids,
      [...ids.keys()].map((n) => n + 1),
      'no id is visible before a lower one',
    );
    t.ok(ids.length >= last);
    last = ids.length;
  }
  await writing;
});
