import { eq } from 'drizzle-orm';
import t from 'tap';
import { executions } from '../../../../packages/db/src/index.ts';
import { createDeliverer } from '../../../api/src/product/deliveries/queue/deliverer.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { confirmAddresses, deliverDueMails } from '../../../api/test/support/mails.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { startReceiver } from '../../../api/test/support/servers/receiver.ts';
import { insertEndedRuns, insertTask, insertUsage, readRuns, setOutcome } from '../../../api/test/support/task-rows.ts';
import { postWebhook } from '../../../api/test/support/webhooks.ts';
import { answer, createModel, failure, runAll } from '../support/runs.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx, clock } = await testContext(t, { ai: model.ai });
const receiver = await startReceiver(t);
const HOUR_MS = 3_600_000;
const HOSTILE = '"><script>alert(1)</script>{{7*7}}';

const later = (hours: number) => new Date(START.getTime() + hours * HOUR_MS);
const newAlice = () => signUp(app, { name: 'Alice', timezone: 'Europe/Berlin' });
const lastRun = async (taskId: number) => (await readRuns(ctx, taskId)).at(-1)!;
t.beforeEach(() => clock.set(START));

t.test('A list without runs says what will stand there', async (t) => {
  const page = await visit(app, await newAlice()).open('/executions');
  t.match(page, { status: 200, heading: 'Runs', text: /No runs yet/ });
});

t.test('Runs are listed with their local time, outcome, first line, duration and cost', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { name: 'Morning news' });
  await runAll(ctx, model, answer('## **Quiet night**\n\nNothing else.'));
  clock.set(later(24));
  await runAll(ctx, model, failure('TIMEOUT', 'The provider did not answer within 60 s.'));
  const visitor = visit(app, alice);
  const page = await visitor.open('/executions');
  const rows = page.document.querySelectorAll('tbody tr').map((row) => row.text.replace(/\s+/g, ' ').trim());
  t.match(rows, [
    /^Today at 11:00just now ?Failed ?Morning news newThe provider did not answer within 60 s\.5 ms ?Retry run \d+$/,
    /^Yesterday at 11:001 day ago ?Completed ?Morning news newQuiet night2 s\$0\.012$/,
  ]);
  const failed = await lastRun(task);
  const retried = await visitor.submit(page, `Retry run ${failed.id}`);
  t.match(retried, { status: 200, url: /^\/executions\/\d+$/, text: /The run is queued\..*to repeat run/ });
});

t.test('Filters stand in the address, and a wrong one is named', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { name: 'Morning news' });
  await insertTask(ctx, alice.id, { name: 'Evening news' });
  await runAll(ctx, model, answer('Quiet.'));
  clock.set(later(24));
  await runAll(ctx, model, failure('TIMEOUT', 'Too slow.'));
  const visitor = visit(app, alice);
  const namesAt = async (query: string) => {
    const { document } = await visitor.open(`/executions?${query}`);
    return document.querySelectorAll('tbody td.whole').map((cell) => cell.text.trim());
  };
  t.same(await namesAt(`task=${task}`), ['Morning news newToo slow.', 'Morning news newQuiet.']);
  t.same((await namesAt('outcome=failed')).length, 2);
  t.same(await namesAt('from=2026-11-21&to=2026-11-21&outcome=completed'), []);
  t.same((await namesAt('to=2026-11-20')).length, 2);
  t.same(await namesAt('from=2026-11-22'), []);
  const none = await visitor.open('/executions?outcome=running&from=2026-11-20');
  const isFolded = (page: typeof none) => !page.document.querySelector('#filter details')?.hasAttribute('open');
  t.same(
    [isFolded(await visitor.open('/executions?outcome=failed')), isFolded(none)],
    [true, false],
    'what is set is in sight',
  );
  t.match(none.text, /No runs match this filter\. ?Clear filter/);
  for (const query of [
    'outcome=lost',
    'from=yesterday',
    'to=2026-13-77',
    'from=0000-01-01',
    'to=9999-12-31',
    'from=2026-11-25&to=2026-11-20',
  ]) {
    const { status, heading, document } = await visitor.open(`/executions?${query}`);
    t.match({ status, heading }, { status: 422, heading: 'Runs' }, query);
    t.ok(document.querySelector('.error, [role=alert]'), query);
  }
});

t.test('A day begins at midnight of the profile', async (t) => {
  const alice = await newAlice();
  clock.set('2026-11-20T23:30:00Z');
  await insertTask(ctx, alice.id);
  await runAll(ctx, model, answer('Quiet.'));
  const visitor = visit(app, alice);
  const count = async (query: string) =>
    (await visitor.open(`/executions?${query}`)).document.querySelectorAll('tbody tr').length;
  t.equal(await count('from=2026-11-21&to=2026-11-21'), 1);
  t.equal(await count('from=2026-11-20&to=2026-11-20'), 0);
});

t.test('A list goes on by a cursor, and takes one statement beside the session', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  await insertEndedRuns(ctx, { taskId: task, userId: alice.id, count: 30 });
  const visitor = visit(app, alice);
  const statements = countStatements(ctx.db);
  const first = await visitor.open('/executions?outcome=completed');
  t.equal(statements(), SESSION_STATEMENTS + 1);
  t.equal(first.document.querySelectorAll('tbody tr').length, 25);
  const next = await visitor.open(first.document.querySelector('a[rel=next]')!.getAttribute('href')!);
  t.equal(next.document.querySelectorAll('tbody tr').length, 5);
  t.notOk(next.document.querySelector('a[rel=next]'));
});

t.test('A run shows its answer, what changed since the last one, its prompt and its figures', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { name: 'Morning news', prompt: 'What is new?' });
  await runAll(ctx, model, answer('# News\n\nRain.\n\nWind.'));
  clock.set(later(24));
  await runAll(ctx, model, failure('INVALID_REQUEST', 'No such model.'));
  clock.set(later(48));
  await runAll(ctx, model, answer('# News\n\nSun.\n\nWind.'));
  const { id } = await lastRun(task);
  const visitor = visit(app, alice);
  // The first request of a minute records the use of the session.
  await visitor.open('/executions');
  const statements = countStatements(ctx.db);
  const page = await visitor.open(`/executions/${id}`);
  t.equal(statements(), SESSION_STATEMENTS + 3, 'session, run and deliveries, and that it is seen');
  t.match(page, { status: 200, heading: 'Run of Sunday 22 November, 11:00' });
  t.equal(page.document.querySelector('.answer h3')?.text, 'News');
  t.equal(page.document.querySelector('.diff ins')?.text, 'Sun.');
  t.equal(page.document.querySelector('.diff del')?.text, 'Rain.');
  t.match(page.text, /Request.* to test-model ?Show the request.*Prompt ?What is new\?/);
  t.match(page.text, /Planned by the schedule\..*Sent to test-model\..*Answered after 2 s\./);
  t.match(page.text, /Duration2 sModellarge-2026Input tokens412Output tokens80Cost\$0\.012Started byschedule/);
  t.match(page.text, /Nearby runsFri 20 Nov 11:00 ?Completed ?Sat 21 Nov 11:00 ?Failed ?Sun 22 Nov 11:00 ?This run/);
  t.match(page.text, /Deliveries Nobody was notified/);
});

t.test('A run that did not keep its prompt says whether the task has changed since', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  await runAll(ctx, model, answer('Quiet.'));
  const { id } = await lastRun(task);
  await ctx.db.update(executions).set({ request: null }).where(eq(executions.id, id));
  const kept = await visit(app, alice).open(`/executions/${id}`);
  t.match(kept.text, /As sent: the task has not changed since the run started\./);
  clock.set(later(1));
  await app.inject({
    method: 'PATCH',
    url: `/api/tasks/${task}`,
    headers: alice.headers,
    payload: { prompt: 'Say something else.' },
  });
  const page = await visit(app, alice).open(`/executions/${id}`);
  t.match(page.text, /This run did not keep its prompt, and the task changed after it started, today at 12:00/);
});

t.test('A run that is retried names the retry in the language of its reader', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  await app.inject({
    method: 'PATCH',
    url: '/api/user/settings',
    headers: alice.headers,
    payload: { language: 'pt-BR' },
  });
  await runAll(ctx, model, failure('TIMEOUT', 'The provider did not answer within 60 s.', true));
  const retry = await lastRun(task);
  const page = await visit(app, alice).open(`/executions/${retry.retryOfId}`);
  t.equal(page.document.querySelector(`.notice a[href="/executions/${retry.id}"]`)?.text, `execução ${retry.id}`);
});

t.test('A failed run says why, what to do, and which attempts failed before', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { name: 'Morning news' });
  await runAll(ctx, model, failure('TIMEOUT', 'The provider did not answer within 60 s.', true));
  const first = await lastRun(task);
  const visitor = visit(app, alice);
  const waiting = await visitor.open(`/executions/${first.retryOfId}`);
  t.match(waiting, { status: 200, heading: 'Run of Friday 20 November, 11:00' });
  t.match(
    waiting.text,
    /did not answer in time The provider did not answer within 60 s\. TIMEOUT What to do: nothing. Carillon retries/,
  );
  const retry = await visitor.open(`/executions/${first.id}`);
  t.match(retry.text, /Waiting to retry · attempt 2.*It waits until today at 11:01/);
  t.match(await visitor.submit(retry, 'Run now'), { url: `/executions/${first.id}`, text: /The run is queued\./ });
  await runAll(ctx, model, failure('TIMEOUT', 'The provider did not answer within 60 s.'));
  const page = await visitor.open(`/executions/${first.id}`);
  t.match(page.text, /Failed · attempt 2/);
  t.match(page.text, /All 2 attempts ended the same way\. What to do: Retry now\./);
  t.match(page.text, /Attempt 1 failed\./);
  t.equal(page.text.match(/within 60 s\./g)?.length, 1, 'the sentence stands once');
  t.match(page.text, /No answer\./);
});

t.test('A retry that is refused says why on the page of the run', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  await runAll(ctx, model, answer('Quiet.'));
  const { id } = await lastRun(task);
  const visitor = visit(app, alice);
  const page = await visitor.open(`/executions/${id}`);
  const again = await visitor.submit(page, 'Run again');
  t.match(again, { status: 200, text: /Waiting.*Waiting for the answer/ });
  await setOutcome(ctx, id, 'TIMEOUT');
  const failed = await visitor.open(`/executions/${id}`);
  await setOutcome(ctx, id, null);
  const refused = await visitor.submit(failed, 'Retry');
  t.match(refused, { status: 409, text: /Only a failed run can be retried\./ });
  await insertUsage(ctx, alice.id, { executions: 1000 });
  const over = await visitor.submit(await visitor.open(`/executions/${id}`), 'Run again');
  t.match(over, { status: 402, heading: page.heading, text: /All 50 runs are used\./ });
});

t.test('A run shows who was told of it, and a delivery can be sent again', async (t) => {
  const alice = await newAlice();
  const events = ['execution.completed', 'execution.started', 'task.completed'];
  await postWebhook(app, alice, { url: `${receiver.url}/hook`, events });
  const task = await insertTask(ctx, alice.id);
  await insertTask(ctx, alice.id, { name: 'Another' });
  receiver.answer(502);
  await runAll(ctx, model, answer('Quiet.'));
  await createDeliverer(ctx).drain();
  const { id } = await lastRun(task);
  const visitor = visit(app, alice);
  const page = await visitor.open(`/executions/${id}`);
  const rows = page.document.querySelectorAll('tbody tr').map((row) => row.text.replace(/\s+/g, ' ').trim());
  t.equal(rows.length, 3, 'none of the other run');
  for (const row of rows)
    t.match(
      row,
      /127\.0\.0\.1:\d+webhook, run (completed|started)( \(not inbound\))?Waiting1Today at 11:00, response 502; next attempt today at/,
    );
  receiver.answer(200);
  clock.advance(HOUR_MS);
  await createDeliverer(ctx).drain();
  const delivered = await visitor.open(`/executions/${id}`);
  t.match(delivered.text, /Delivered late2Today at 12:00, response 200/);
  const sent = await visitor.submit(delivered, 'Deliver again run completed');
  t.match(sent, { status: 200, url: `/executions/${id}#deliveries`, text: /The delivery is queued again\./ });
});

t.test('A run shows the mail with its answer, and only its own', async (t) => {
  const alice = await newAlice();
  const notificationEmail = 'alice@elsewhere.example';
  await confirmAddresses(ctx, alice.id, [notificationEmail]);
  const task = await insertTask(ctx, alice.id, { name: 'Morning news', notificationEmail });
  await insertTask(ctx, alice.id, { name: 'Evening news', notificationEmail });
  await runAll(ctx, model, answer('Quiet.'));
  const visitor = visit(app, alice);
  const { id } = await lastRun(task);
  const rows = async () =>
    (await visitor.open(`/executions/${id}`)).document
      .querySelectorAll('tbody tr')
      .map((row) => row.text.replace(/\s+/g, ' ').trim());
  t.same(await rows(), ['alice@elsewhere.examplemailWaiting0Today at 11:00']);
  await deliverDueMails(ctx);
  t.same(await rows(), ['alice@elsewhere.examplemailDelivered1Today at 11:00']);
});

t.test('A long answer is cut on its page, and whole as text', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  await runAll(ctx, model, answer(`${'word '.repeat(20_000)}END`));
  const { id } = await lastRun(task);
  const visitor = visit(app, alice);
  const { response, text } = await visitor.open(`/executions/${id}`);
  t.ok(response.body.length < 50_000);
  t.match(text, /This is the beginning of the answer\. Read all of it as text/);
  t.match((await visitor.open(`/executions/${id}/text`)).response.body, 'word END');
});

t.test('A run as text is plain text with its answer, its reason and its prompt', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { name: 'Morning news' });
  await runAll(ctx, model, answer(`Rain. ${HOSTILE}`));
  const { id } = await lastRun(task);
  const { response } = await visit(app, alice).open(`/executions/${id}/text`);
  t.match(response.headers, {
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': 'inline',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  t.match(response.body, /^Task: +Morning news\nRun: .*\(Europe\/Berlin\)\nOutcome: +Completed\n/);
  t.match(response.body, `ANSWER\nRain. ${HOSTILE}\n`);
});

t.test("A stranger's run is not found, nor one that cannot exist", async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  await runAll(ctx, model, failure('TIMEOUT', 'Too slow.'));
  const { id } = await lastRun(task);
  const bob = visit(app, await signUp(app, { name: 'Bob' }));
  const own = await insertTask(ctx, (await newAlice()).id);
  for (const path of [`${id}`, `${id}/text`, '0', '1.5', 'abc', '2147483648', `${own}/text`]) {
    t.match(await bob.open(`/executions/${path}`), { status: 404, heading: 'Page not found' }, path);
  }
  t.match((await bob.open(`/executions?task=${task}`)).text, /a task that does not exist/);
  const mine = visit(app, alice);
  const page = await mine.open(`/executions/${id}`);
  for (const action of ['retry', 'run-again', 'deliver-again']) {
    const form = page.document.querySelector('form.do')!;
    form.querySelector('button')!.setAttribute('formaction', `/executions/999999/${action}`);
    t.match(await mine.submit(page, 'Retry'), { status: /404|400/ }, action);
  }
});

t.test('Text of users and models stays text', async (t) => {
  const alice = await newAlice();
  const long = 'x'.repeat(10_000);
  const task = await insertTask(ctx, alice.id, { name: HOSTILE, prompt: `${HOSTILE} ${long} \u202e` });
  await runAll(
    ctx,
    model,
    answer(`${HOSTILE}\n\n[a](javascript:alert(1)) ![b](https://evil.example/x.png) <img src=x>`),
  );
  const done = await lastRun(task);
  clock.set(later(24));
  await runAll(ctx, model, failure('PROVIDER_ERROR', `Bad ${HOSTILE}`));
  const failed = await lastRun(task);
  const visitor = visit(app, alice);
  for (const url of ['/executions', `/executions/${done.id}`, `/executions/${failed.id}`]) {
    const { document, response } = await visitor.open(url);
    t.equal(document.querySelectorAll('main script, main img').length, 0, url);
    t.notMatch(response.body, /<script>alert|href="javascript:/, url);
    t.match(document.querySelector('main')?.text, HOSTILE, url);
  }
});
