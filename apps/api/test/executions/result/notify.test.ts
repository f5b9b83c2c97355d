import { randomUUID } from 'node:crypto';
import { compileValidator } from '@carillon/contract';
import { type EventKind, eventPayload } from '@carillon/contract/webhooks/events';
import { deliveries, endpoints, events, mails, tasks, users } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { readRunDeliveries } from '../../../src/product/executions/run-deliveries.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { confirmAddresses, deliverDueMails } from '../../support/mails.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { insertTask, readRuns } from '../../support/task-rows.ts';
import { runDue } from '../../support/tasks.ts';

const server = await startMailServer(t);
const { ctx, ai, clock, alice } = await testEngine(t, {
  SMTP_URL: server.url,
  APP_URL: 'https://bells.example.com',
  WEBHOOK_RETRY_DELAYS: '0',
});
const RESULTS = 'results@example.com';
const COMPLETED = ['execution.completed', 'execution.failed'] as const;

t.beforeEach(async () => {
  await ctx.db.delete(mails);
  await confirmAddresses(ctx, alice().id, [RESULTS]);
  server.received.length = 0;
});

async function insertWebhook(values: Partial<typeof endpoints.$inferInsert> = {}): Promise<string> {
  const id = randomUUID();
  const secret = { secretEncrypted: 'sealed', secretLookup: id };
  const from = { userId: alice().id, url: 'https://example.com/hook', events: [...COMPLETED] };
  await ctx.db.insert(endpoints).values({ id, ...secret, ...from, createdAt: START, updatedAt: START, ...values });
  return id;
}

/** A task with a webhook of its own and an address. Runs only by hand. */
async function insertWatched(notify: 'always' | 'change' | 'failure') {
  const url = 'https://example.com/own';
  const quiet = { status: 'paused', nextExecutionAt: null } as const;
  const to = { webhookUrl: url, notificationEmail: RESULTS };
  const taskId = await insertTask(ctx, alice().id, { name: 'Price of bells', notify, ...quiet, ...to });
  await insertWebhook({ taskId, url, purpose: 'task' });
  return taskId;
}

/** Runs the task with this answer, or a failure without one; returns what was sent since. */
async function run(taskId: number, text: string | null) {
  await ctx.db.delete(deliveries);
  ai.answer(() => (text === null ? { status: 401 } : { text }));
  clock.advance(1000);
  await executeTask(ctx, alice(), taskId);
  await runDue(ctx);
  await deliverDueMails(ctx);
  const sent = await ctx.db
    .select({ event: deliveries.event, payload: deliveries.payload, ownerId: endpoints.taskId })
    .from(deliveries)
    .innerJoin(endpoints, eq(endpoints.id, deliveries.webhookId))
    .orderBy(asc(deliveries.event));
  const payloads = sent.map(({ payload, ...rest }) => ({ ...rest, payload: JSON.parse(payload) }));
  return {
    own: payloads.filter(({ ownerId }) => ownerId !== null).map(({ event }) => event),
    account: payloads.filter(({ ownerId }) => ownerId === null),
    mails: server.received.splice(0),
  };
}

const SENT: Record<'always' | 'change' | 'failure', boolean[]> = {
  always: [true, true, true, true, true],
  change: [false, false, true, true, false],
  failure: [false, false, false, true, false],
};
/** The first success, the same, another, a failure, and the same as before it. */
const ANSWERS = ['12 EUR', '12  EUR', '11 EUR', null, '11 EUR'];

for (const notify of ['always', 'change', 'failure'] as const) {
  t.test(`With \`notify\` set to \`${notify}\` the task's own webhook and mail get what it says`, async (t) => {
    await insertWebhook();
    const task = await insertWatched(notify);
    for (const [at, answer] of ANSWERS.entries()) {
      const sent = await run(task, answer);
      const expected = SENT[notify][at];
      const kind = answer === null ? 'execution.failed' : 'execution.completed';
      t.strictSame(sent.own, expected ? [kind] : [], `own webhook, run ${at + 1}`);
      t.equal(sent.mails.length, expected ? 1 : 0, `mail, run ${at + 1}`);
      t.strictSame(
        sent.account.map(({ event }) => event),
        [kind],
        `webhook of the account, run ${at + 1}`,
      );
    }
  });
}

t.test('A changed result is the event `task.changed` with the data of the completed one', async (t) => {
  await insertWebhook({ events: ['task.changed', 'task.completed', 'execution.completed'] });
  const task = await insertWatched('failure');
  const events: unknown[] = [];
  for (const answer of ['12 EUR', '12 EUR', '11 EUR']) {
    const { account } = await run(task, answer);
    for (const { event, payload } of account)
      t.match(compileValidator(eventPayload(event as EventKind))(payload), { ok: true }, event);
    const [execution] = account.map(({ payload }) => payload.data.execution);
    for (const { payload } of account) t.strictSame(payload.data.execution, execution);
    events.push([account.map(({ event }) => event), execution.changed, execution.changes]);
  }
  t.strictSame(events, [
    [['execution.completed', 'task.completed'], undefined, undefined],
    [['execution.completed', 'task.completed'], false, []],
    [['execution.completed', 'task.changed', 'task.completed'], true, [{ path: '', from: '12 EUR', to: '11 EUR' }]],
  ]);
});

t.test('The log has a changed result whatever `notify` says', async (t) => {
  const task = await insertWatched('failure');
  for (const answer of ['12 EUR', '11 EUR']) await run(task, answer);
  const logged = await ctx.db
    .select({ kinds: events.kinds })
    .from(events)
    .where(eq(events.taskId, task))
    .orderBy(events.id);
  t.strictSame(
    logged.flatMap(({ kinds }) => kinds).filter((kind) => /completed|changed/.test(kind)),
    ['task.completed', 'execution.completed', 'task.completed', 'execution.completed', 'task.changed'],
  );
});

t.test('The mail of a changed result has the difference before the result', async (t) => {
  const task = await insertWatched('change');
  await run(task, 'Bells\nThe price is 12.5.\nIn stock.');
  const [mail, ...more] = (await run(task, 'Bells\nThe price is 11.9.\nIn stock.')).mails;
  t.same(more, []);
  t.equal(mail?.subject, 'Task "Price of bells": answer changed');
  const { id } = (await readRuns(ctx, task)).at(-1)!;
  t.match(
    mail?.text,
    /completed\.\n\nThe answer differs from the previous one:\n\n {2}Bells\n- The price is 12\.5\.\n\+ The price is 11\.9\.\n {2}In stock\.\n\nThe answer:\n\nBells/,
  );
  t.match(mail?.text, `https://bells.example.com/executions/${id}`);
});

t.test(
  'A task with an output schema mails the watched values that changed, and nothing while only others do',
  async (t) => {
    const task = await insertWatched('change');
    const outputSchema = { type: 'object', properties: { price: { type: 'number' }, note: { type: 'string' } } };
    await ctx.db
      .update(tasks)
      .set({ outputSchema, watch: ['price'] })
      .where(eq(tasks.id, task));
    t.same((await run(task, '{"price": 12.5, "note": "a"}')).mails, []);
    t.same((await run(task, '{"note": "b", "price": 1.25e1}')).mails, []);
    const [mail, ...more] = (await run(task, '{"price": 11.9, "note": "c"}')).mails;
    t.same(more, []);
    t.equal(mail?.subject, 'Task "Price of bells": answer changed');
    t.match(mail?.text, 'The answer differs from the previous one:\n\nprice: 12.5 → 11.9\n\nThe answer:');
    const last = (await readRuns(ctx, task)).at(-1);
    t.match(last, { changed: true, changes: [{ path: 'price', from: 12.5, to: 11.9 }], output: { price: 11.9 } });
  },
);

t.test('What changed cannot add a header or a line to a mail beside its own', async (t) => {
  const task = await insertWatched('change');
  await ctx.db.update(tasks).set({ name: 'Bells\r\nBcc: eve@example.com' }).where(eq(tasks.id, task));
  await run(task, 'A');
  const nasty = 'Bcc: eve@example.com\r\n\r\n.\r\nMAIL FROM:<eve@example.com>\u0000\u202e';
  const [mail, ...more] = (await run(task, nasty)).mails;
  t.same(more, []);
  t.equal(mail?.subject, 'Task "Bells Bcc: eve@example.com": answer changed');
  t.same(mail?.envelope.to, [RESULTS]);
  t.match(mail?.text, '+ Bcc: eve@example.com');
});

t.test('The mail of an owner who reads Portuguese is in Portuguese, and its run finds it', async (t) => {
  await ctx.db.update(users).set({ language: 'pt-BR' }).where(eq(users.id, alice().id));
  t.teardown(() => ctx.db.update(users).set({ language: 'en' }).where(eq(users.id, alice().id)));
  const task = await insertWatched('always');
  const subjects = [
    'Tarefa "Price of bells": execução concluída',
    'Tarefa "Price of bells": a resposta mudou',
    'Tarefa "Price of bells": a execução falhou',
  ];
  for (const [at, answer] of ['12', '13', null].entries()) {
    const [mail] = (await run(task, answer)).mails;
    t.equal(mail?.subject, subjects[at]);
    t.match(mail?.text, `A execução: https://bells.example.com/executions/`);
    t.match(mail?.text, 'Você recebe este e-mail porque a conta');
    const { id } = (await readRuns(ctx, task)).at(-1)!;
    t.match(await readRunDeliveries(ctx, alice(), id), { mails: [{ to: RESULTS, status: 'delivered' }] });
  }
});

t.test('A mail of long texts shows the beginning of what changed', async (t) => {
  const task = await insertWatched('change');
  const list = (word: string) => Array.from({ length: 30_000 }, (_, at) => `${word} ${at}`).join('\n');
  await run(task, list('old'));
  const [mail] = (await run(task, list('new'))).mails;
  t.match(mail?.text, /- old 0\n[\s\S]*\+ new 0\n/);
  t.ok((mail?.text?.length ?? 0) < 30_000);
});
