import { mails, type tasks, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { confirmAddresses, deliverDueMails } from '../../support/mails.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { insertTask, insertUsage, readRun, readRuns } from '../../support/task-rows.ts';
import { runDue } from '../../support/tasks.ts';

const server = await startMailServer(t);
const { ctx, ai, clock, alice, newWorker } = await testEngine(t, {
  SMTP_URL: server.url,
  APP_URL: 'https://bells.example.com',
});
t.beforeEach(async () => {
  await ctx.db.delete(mails);
  await confirmAddresses(ctx, alice().id, [RESULTS]);
  server.received.length = 0;
});

const RESULTS = 'results@example.com';
const insert = (values: Partial<typeof tasks.$inferInsert> = {}) =>
  insertTask(ctx, alice().id, { name: 'Morning news', notificationEmail: RESULTS, ...values });
/** Runs what is due and sends queued mails; returns the mails that arrived since the last call. */
async function arrived() {
  await runDue(ctx);
  await deliverDueMails(ctx);
  return server.received.splice(0);
}

t.test('A successful execution is mailed with its result, its link and the reason of the mail', async (t) => {
  const { email } = (await ctx.db.select().from(users).where(eq(users.id, alice().id)))[0]!;
  const task = await insert();
  ai.answer(() => ({ text: 'All is well.\nNothing happened. <b>Really</b>.' }));
  const [mail, ...rest] = await arrived();
  t.same(rest, []);
  t.same(mail?.envelope.to, [RESULTS]);
  t.equal(mail?.subject, 'Task "Morning news": run completed');
  t.notOk(mail?.html);
  const { id } = await readRun(ctx, task);
  const text = mail?.text ?? '';
  t.match(text, 'A run of the task "Morning news" completed.');
  t.match(text, 'All is well.\nNothing happened. <b>Really</b>.');
  t.match(text, `https://bells.example.com/executions/${id}`);
  t.match(text, `You get this because the Carillon account ${email} `);
});

t.test('A failed execution is mailed with its error once no retry follows', async (t) => {
  const task = await insert();
  ai.answer(() => ({ status: 503, body: { error: { message: 'Overloaded' } } }));
  for (const wait of [0, 60_000, 300_000]) {
    clock.advance(wait);
    t.same(await arrived(), [], 'a retry is to come');
  }
  clock.advance(900_000);
  const [mail, ...rest] = await arrived();
  t.same(rest, []);
  t.equal(mail?.subject, 'Task "Morning news": run failed');
  const last = (await readRuns(ctx, task)).at(-1);
  t.match(mail?.text, String(last?.error));
  t.match(mail?.text, `/executions/${last?.id}`);
});

t.test('A retry that succeeds and an execution that a quota refuses are mailed too', async (t) => {
  await insert({ recurrence: 'once' });
  ai.answer(() => ({ status: 503 }));
  t.same(await arrived(), []);
  ai.answer(() => ({ text: 'At last.' }));
  clock.advance(60_000);
  t.match(await arrived(), [{ subject: 'Task "Morning news": run completed' }]);
  await insertUsage(ctx, alice().id, { executions: 50 });
  await insert();
  // The notice that the quota is used may arrive before it.
  const mails = await arrived();
  t.match(
    mails.find(({ subject }) => subject === 'Task "Morning news": run failed'),
    { text: /quota/i },
  );
});

t.test('A task without an address sends no mail, even beside one that has an address', async (t) => {
  await insert({ notificationEmail: null });
  t.same(await arrived(), []);
  const other = await insert({ name: 'Evening news' });
  await executeTask(ctx, alice(), await insert({ notificationEmail: null }));
  await executeTask(ctx, alice(), other);
  for (const { subject } of await arrived()) t.match(subject, 'Evening news');
});

t.test('A long result is cut, and its link is not', async (t) => {
  const task = await insert();
  ai.answer(() => ({ text: `${'🔔'.repeat(10_000)}The end.` }));
  const [mail] = await arrived();
  t.notMatch(mail?.text, 'The end.');
  t.match(mail?.text, /🔔 \[…\]\s+\(This is the beginning/);
  t.match(mail?.text, `/executions/${(await readRun(ctx, task)).id}`);
});

t.test('The name of a task cannot add a mail header', async (t) => {
  await insert({ name: 'News\r\nBcc: eve@example.com' });
  const [mail] = await arrived();
  t.equal(mail?.subject, 'Task "News Bcc: eve@example.com": run completed');
  t.same(mail?.envelope.to, [RESULTS]);
});

t.test('The mail is queued in the transaction of the result, and stored encrypted', async (t) => {
  const task = await insert();
  await executeTask(ctx, alice(), task);
  const [run] = (await pipeline.claim(ctx, { limit: 1, after: 0 })).started;
  const result = buildResult(run!, { text: 'A secret recipe.' });
  const undone = new Error('undone');
  const completing = inTransaction(ctx, async (tx) => {
    await completeExecutions(tx, [result]);
    throw undone;
  });
  await t.rejects(completing, undone);
  t.equal(await ctx.db.$count(mails), 0);
  await inTransaction(ctx, (tx) => completeExecutions(tx, [result]));
  const [mail] = await ctx.db.select().from(mails);
  t.match(mail, { recipient: RESULTS, userId: alice().id, kind: 'message' });
  t.notMatch(JSON.stringify(mail), 'recipe');
  t.same(await completeExecutions(ctx, [result]), [], 'an end counts once');
  t.equal(await ctx.db.$count(mails), 1);
  await ctx.db.delete(users).where(eq(users.id, alice().id));
  t.equal(await ctx.db.$count(mails), 0, 'and goes with the account');
});

t.test('A deactivated account sends no mail', async (t) => {
  const task = await insert();
  await executeTask(ctx, alice(), task);
  const worker = newWorker(t);
  ai.answer(async () => {
    await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice().id));
    return {};
  });
  await worker.drain();
  t.match(await readRun(ctx, task), { status: 'completed' });
  t.equal(await ctx.db.$count(mails), 0);
});
