import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { deliveries, deliveryAttempts } from '../../../../packages/db/src/index.ts';
import { insertChannel } from '../../../api/test/support/channel-rows.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readRuns } from '../../../api/test/support/task-rows.ts';
import { answer, createModel, runAll } from '../support/runs.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx, clock } = await testContext(t, { ai: model.ai });
t.beforeEach(() => clock.set(START));

const QUIET = { from: '08:00', to: '20:00', timezone: 'UTC' };
const inMinutes = (minutes: number) => new Date(START.getTime() + minutes * 60_000);
const change = (id: string, values: Partial<typeof deliveries.$inferInsert>) =>
  ctx.db.update(deliveries).set(values).where(eq(deliveries.id, id));

/** Runs a task of a new Alice that names these channels once, and returns what was queued. */
async function runWith(channels: (userId: number) => Promise<string[]>) {
  const alice = await signUp(app, { name: 'Alice' });
  const ids = await channels(alice.id);
  const task = await insertTask(ctx, alice.id, { channels: ids });
  await runAll(ctx, model, answer('Quiet.'));
  const run = (await readRuns(ctx, task)).at(-1)!;
  const readRows = async () => {
    const page = await visit(app, alice).open(`/executions/${run.id}`);
    return page.document.querySelectorAll('#deliveries ~ form tbody tr, form tbody tr').map((row) => ({
      text: row.text.replace(/\s+/g, ' ').trim(),
      link: row.querySelector('a')?.getAttribute('href'),
    }));
  };
  const find = async (channel = '') => {
    const [row] = await ctx.db.select().from(deliveries).where(eq(deliveries.webhookId, channel));
    if (!row) throw new Error('Nothing was queued.');
    return row;
  };
  return { alice, ids, run, readRows, find };
}

async function logAttempt(delivery: typeof deliveries.$inferSelect, attempt: number, error: string | null) {
  const { id: deliveryId, webhookId, event } = delivery;
  const url = 'https://ntfy.example.com';
  const result = { success: error === null, statusCode: error === null ? 200 : 429, error, responseTimeMs: 12 };
  await ctx.db.insert(deliveryAttempts).values({
    id: randomUUID(),
    deliveryId,
    webhookId,
    event,
    url,
    attempt,
    ...result,
    attemptedAt: inMinutes(attempt),
  });
}

t.test('A run shows its channels by name, with each attempt, in one statement beside session and run', async (t) => {
  const { alice, ids, run, readRows, find } = await runWith(async (userId) => [
    await insertChannel(ctx, userId, { name: 'Phone <b>' }),
  ]);
  const [phone = ''] = ids;
  t.match(await readRows(), [{ text: /^Phone <b>ntfy, run completedWaiting0/, link: `/channels/${phone}` }]);

  const delivery = await find(phone);
  await logAttempt(delivery, 1, 'Too many messages');
  await logAttempt(delivery, 2, null);
  await change(delivery.id, { status: 'delivered', attempt: 2, nextAttemptAt: null, queuedAt: null, endedAt: START });
  const statements = countStatements(ctx.db);
  const [row] = await readRows();
  t.equal(statements(), SESSION_STATEMENTS + 2);
  t.match(
    row?.text,
    /Delivered late2Today at 10:02, response 200 ?2 attempts ?Today at 10:01, response 429: Too many messages/,
  );
  const body = (await visit(app, alice).open(`/executions/${run.id}`)).response.body;
  t.notMatch(body, 'ntfy.example.com');

  const visitor = visit(app, alice);
  const shown = await visitor.open(`/executions/${run.id}`);
  const again = await visitor.submit(shown, 'Deliver again run completed');
  t.match(again, { status: 200, text: /The delivery is queued again\./ });
  t.match(await find(phone), { status: 'pending', attempt: 0 });
});

t.test('A held delivery shows until when it is held, and a digested one what became of the digest', async (t) => {
  const { ids, readRows, find } = await runWith(async (userId) => [
    await insertChannel(ctx, userId, { name: 'Night', quiet: QUIET }),
  ]);
  const delivery = await find(ids[0]);
  t.equal(delivery.status, 'held');
  t.match(await readRows(), [{ text: /^Nightntfy, run completedHeld0/ }]);
  await change(delivery.id, { nextAttemptAt: inMinutes(600) });
  t.match(await readRows(), [{ text: /Held0until today at 20:00/ }]);

  const digest = { ...delivery, id: randomUUID(), event: 'digest', status: 'pending' as const };
  await ctx.db.insert(deliveries).values({ ...digest, nextAttemptAt: inMinutes(5), queuedAt: null });
  await change(delivery.id, { status: 'digested', digestId: digest.id, nextAttemptAt: null, endedAt: START });
  await logAttempt(digest, 1, 'Slow down');
  t.match(await readRows(), [
    { text: /Waiting ?in a digest1Today at 10:01, response 429: Slow down; next attempt today at 10:05/ },
  ]);
  await change(digest.id, { status: 'delivered', nextAttemptAt: null, endedAt: START });
  const rows = await readRows();
  t.equal(rows.length, 1, 'the digest is not listed');
  t.match(rows[0]?.text, /^Night.*Delivered ?in a digest/);
});

t.test('Channels of other tasks are not listed', async (t) => {
  const { alice, readRows } = await runWith(async () => []);
  await insertTask(ctx, alice.id, { channels: [await insertChannel(ctx, alice.id)] });
  await runAll(ctx, model, answer('Another.'));
  t.same(await readRows(), []);
});
