import { getTexts } from '@carillon/texts';
import t from 'tap';
import { lockAccounts } from '../../../api/src/platform/limits/quotas.ts';
import { recordUsage } from '../../../api/src/product/usage/record.ts';
import { inTransaction } from '../../../api/src/transaction.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp, signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { insertSample, SAMPLE_NOW } from '../../../api/test/support/sample.ts';
import { insertActivity } from '../../../api/test/support/sample-activity.ts';
import { patchTask } from '../../../api/test/support/tasks.ts';
import { describePeriod, forecast } from '../../src/pages/usage/month.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
clock.set(SAMPLE_NOW);
const alice = await signUpAlice(app);
const sample = await insertSample(ctx, alice.id);
await insertActivity(ctx, alice.id, sample);
const visitor = visit(app, alice);

t.test('Usage says whether something runs out before the month ends, beside the limits of the plan', async (t) => {
  const { status, heading, text, document } = await visitor.open('/usage');
  t.match({ status, heading }, { status: 200, heading: 'Usage' });
  t.match(text, /^Usage ?As planned, nothing runs out in March\./);
  t.match(text, /Runs ?918 ?of 10,000 ?of 10,000 ?as planned, 1,\d+ by the end of March/);
  t.match(text, /Tokens ?11\.2 M ?of 20 M/);
  t.match(text, /Storage ?0 bytes ?of 10 GB/);
  t.match(text, /March: 890 completed, 28 failed/);
  t.equal(document.querySelectorAll('meter').length, 5);
  t.match(document.querySelector('svg.chart')?.getAttribute('aria-label'), /Cost by day in March: up to \$0\.\d\d/);
  t.match(text, /24 March ?42 ?466,000 ?\$0\.79/);
});

t.test('Usage is listed by task, agent, model and key', async (t) => {
  const { document } = await visitor.open('/usage');
  const rowsOf = (id: string) =>
    document.querySelectorAll(`section[aria-labelledby=${id}] tbody tr`).map((row) => row.text.replace(/\s+/g, ' '));
  const tasks = rowsOf('tasks');
  t.equal(tasks.length, 9);
  t.match(tasks[0], /^Regulatory news, medical devices\$1\.\d\d ?12% ?\d+109 K6\.\d K$/);
  t.ok(tasks.some((row) => row.startsWith('Agentmessages, not runs of a task$0.31')));
  t.match(rowsOf('models'), [/^large-2026-01\$/, /^small-2026-01\$/]);
  t.match(rowsOf('keys'), ['Deploy pipeline1,870']);
  const id = sample.tasks.get('Nightly error digest');
  t.ok(document.querySelector(`section[aria-labelledby=tasks] a[href="/tasks/${id}"]`));
});

t.test('An earlier month is chosen, and months that do not exist are not found', async (t) => {
  const form = await visitor.open('/usage');
  const months = form.document.querySelectorAll('select[name=month] option').map(({ text }) => text);
  t.same(months, ['March 2026', 'February 2026']);
  const past = await visitor.open('/usage?month=2026-02');
  t.match(past, { status: 200, heading: 'Usage in February 2026', text: /This month is over.*\$11\.70.*Runs ?1,042/ });
  t.notOk(past.document.querySelector('meter, form[action="/usage/alerts"]'));
  for (const month of ['2026-01', '2026-04', '2026-13', '0000-01', '2026-02-11', 'x', "'; drop table users"]) {
    t.equal((await visitor.open(`/usage?month=${encodeURIComponent(month)}`)).status, 404, month);
  }
  t.equal((await visitor.open('/usage?month=2026-02&month=2026-01')).heading, 'Usage');
});

t.test('Usage is read with few statements', async (t) => {
  const count = countStatements(ctx.db);
  await visitor.open('/usage');
  t.equal(count(), SESSION_STATEMENTS + 4);
});

t.test('Usage of a new account says what will stand there', async (t) => {
  const bob = await signUpBob(app);
  const { status, text } = await visit(app, bob).open('/usage');
  t.equal(status, 200);
  t.match(text, /nothing runs out.*No run of this month has ended yet.*No API key was used.*No usage alerts yet/);
});

t.test('Limits that are used up are named with the time at which tasks run again', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  const visitor = visit(app, carol);
  const use = (executions: number) =>
    inTransaction(ctx, async (tx) => {
      await lockAccounts(tx.db, [carol.id], SAMPLE_NOW);
      await recordUsage(tx, [{ userId: carol.id, day: '2026-03-24', executions }]);
    });
  await use(50);
  t.match((await visitor.open('/usage')).text, /Today's runs are used\. Tasks run again at midnight UTC\./);
  await use(450);
  const { text } = await visitor.open('/usage');
  t.match(text, /The runs of March are used\. Tasks run again on 1 April, 00:00 UTC\./);
});

t.test('The day on which a limit is reached follows from the pace of the month so far', async (t) => {
  const now = new Date('2026-03-11T00:00:00Z');
  const period = describePeriod(getTexts('en'), '2026-03', now);
  t.match(period, { days: 31, name: 'March', isNow: true });
  t.same(forecast({ used: 100, limit: 1000 }, period, now), { expected: 310, usedUpAt: null });
  t.same(forecast({ used: 100, limit: 200 }, period, now).usedUpAt, new Date('2026-03-21T00:00:00Z'));
  t.same(forecast({ used: 200, limit: 200 }, period, now).usedUpAt, now);
  t.same(forecast({ used: 0, limit: 200 }, period, now), { expected: 0, usedUpAt: null });
  const start = new Date('2026-03-01T00:01:00Z');
  t.equal(forecast({ used: 1, limit: 100 }, period, start).usedUpAt, null, 'a minute is no pace');
});

t.test('An alert is added, replaced and removed', async (t) => {
  const added = await visitor.submit(await visitor.open('/usage'), 'Add alert', {
    threshold: '90',
    notifyWebhook: 'on',
  });
  t.match(added, {
    url: '/usage#alerts',
    text: /You get an alert at 90% of a limit\..*90% ?notification, e-mail, webhook/,
  });
  const removed = await visitor.submit(added, 'Remove the alert at 90%');
  t.match(removed.text, /The alert is removed\./);
  t.notMatch(removed.text, /90% ?notification/);
});

t.test('A refused alert keeps what was typed, with the message at its field', async (t) => {
  for (const threshold of ['0', '101', '', '1e2', '8.5', '<script>']) {
    const page = await visitor.submit(await visitor.open('/usage'), 'Add alert', { threshold, notifyEmail: [] });
    t.match(page, { status: 422, heading: 'Usage' }, threshold);
    const field = page.document.querySelector('input[name=threshold]');
    t.match(field?.attributes, { value: threshold, 'aria-invalid': 'true', 'aria-describedby': /threshold-error/ });
    t.notOk(page.document.querySelector('input[name=notifyEmail]')?.hasAttribute('checked'));
  }
});

t.test("A stranger's alert is not removed", async (t) => {
  const dave = await signUp(app, { name: 'Dave' });
  const own = await visitor.open('/usage');
  const form = own.document.querySelector('form[action$="/remove"]');
  const stranger = visit(app, dave);
  const his = await stranger.submit(await stranger.open('/usage'), 'Add alert');
  const button = his.document.querySelector('form[action$="/remove"]');
  button?.setAttribute('action', form?.getAttribute('action') ?? '');
  t.equal((await stranger.submit(his, 'Remove the alert at 80%')).status, 404);
  t.match((await visitor.open('/usage')).text, /50% ?notification/);
});

t.test('The names of tasks stay text', async (t) => {
  const name = '"><script>alert(1)</script>{{7*7}}';
  await patchTask(app, alice, sample.tasks.get('Stand-up questions') ?? 0, { name });
  const { document, text } = await visitor.open('/usage');
  t.ok(text.includes(name));
  t.notOk(document.querySelector('main script'));
});
