import t from 'tap';
import { hashLinkToken } from '../../../api/src/lib/crypto/tokens.ts';
import { confirmNotificationAddress, requestConfirmations } from '../../../api/src/product/notifications/addresses.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { readQueuedTokens } from '../../../api/test/support/mails.ts';
import { signUp, signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { insertSample, SAMPLE_NOW } from '../../../api/test/support/sample.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
clock.set(SAMPLE_NOW);
const alice = await signUpAlice(app);
await insertSample(ctx, alice.id);

t.test('Home shows what needs the person, the day ahead, the answers and the month', async (t) => {
  const { status, heading, text } = await visit(app, alice).open('/');
  t.match({ status, heading }, { status: 200, heading: 'Home' });
  t.match(text, /Tuesday 24 March 2026 · 22 runs in the next 24 hours/);
  t.match(text, /Nightly error digest failed 3 times in a row, last today at 02:31\. The provider did not answer/);
  t.match(text, /Webhook hooks\.gartenhof\.example is off/);
  t.match(
    text,
    /13:00 ?Competitor price watch new changed ?price 59\.9 · shop Gartenhof · summary The 40 L compost bin/,
  );
  t.match(text, /15:00 ?Competitor price watch/);
  t.match(text, /Cost ?\$13\.\d\d/);
  t.match(text, /Runs ?918/);
});

t.test('Home is read with few statements', async (t) => {
  const visitor = visit(app, alice);
  await visitor.open('/');
  const count = countStatements(ctx.db);
  await visitor.open('/');
  t.equal(count(), SESSION_STATEMENTS + 2);
});

t.test(
  'Answers that were not seen are new, those of watched tasks say whether they changed, and all are seen at once',
  async (t) => {
    const visitor = visit(app, alice);
    const page = await visitor.open('/');
    t.match(page.text, /13:00 ?Competitor price watch new changed/);
    const seen = await visitor.submit(page, 'All seen');
    t.match(seen, { url: '/', text: /\d+ runs are marked as seen\..*13:00 ?Competitor price watch changed/ });
    t.notMatch(seen.text, /All seen/);
    clock.advance(25 * 3_600_000);
    t.match((await visitor.open('/')).text, /No answers in the last 24 hours\./);
    clock.set(SAMPLE_NOW);
  },
);

t.test('Home of a new account says what to do first', async (t) => {
  const bob = await signUpBob(app);
  const { text, document } = await visit(app, bob).open('/');
  t.match(text, /No runs planned.*Your first task.*Save and try it now/);
  t.ok(document.querySelector('form[action="/tasks/new"] textarea[name=prompt]'));
  t.notMatch(text, /Needs attention/);
});

t.test(
  'Home names the addresses that wait for their confirmation, and only as long as something is to be mailed to them',
  async (t) => {
    const carol = await signUp(app, { name: 'Carol' });
    const visitor = visit(app, carol);
    const { headers } = carol;
    const patch = (notificationEmails: string[]) =>
      app.inject({ method: 'PATCH', url: '/api/user/settings', headers, payload: { notificationEmails } });
    await patch(['team@example.com']);
    await insertTask(ctx, carol.id, { name: 'Mailed', notificationEmail: 'boss@example.com' });
    await requestConfirmations(ctx, carol.id, ['boss@example.com', 'nobody@example.com']);
    const { text } = await visitor.open('/');
    t.match(text, /Needs attention ?2 items ?boss@example\.com is not confirmed.*team@example\.com is not confirmed/);
    t.notMatch(text, /nobody@example\.com/);
    const waiting = await visitor.open('/');
    t.match(waiting.document.querySelector('.needs .do')?.text, /See addresses.*Send link again/s);
    const sent = await visitor.submit(waiting, 'Send link again: boss@example.com');
    t.match(sent, { url: '/', text: /We sent another link/ });
    t.equal((await readQueuedTokens(ctx, 'boss@example.com')).length, 2);
    waiting.document
      .querySelector('input[value="boss@example.com"]')
      ?.setAttribute('value', 'nobody@elsewhere.example');
    t.equal((await visitor.submit(waiting, 'Send link again: boss@example.com')).status, 404, 'no other address');
    await patch([]);
    t.match((await visitor.open('/')).text, /Needs attention ?1 item ?boss@example\.com is not confirmed/);
    await confirmNotificationAddress(
      ctx,
      hashLinkToken((await readQueuedTokens(ctx, 'boss@example.com')).at(-1) ?? ''),
    );
    t.notMatch((await visitor.open('/')).text, /Needs attention/);
  },
);

t.test('Each bar of the day ahead is within its chart', async (t) => {
  const grace = await signUp(app, { name: 'Grace' });
  await insertTask(ctx, grace.id, {
    recurrencePattern: '*/5 * * * *',
    nextExecutionAt: new Date(ctx.now().getTime() + 1000),
  });
  const { document } = await visit(app, grace).open('/');
  const bars = document.querySelectorAll('.chart .bar').filter((bar) => bar.getAttribute('width')?.endsWith('%'));
  const numberOf = (bar: (typeof bars)[number], name: string) => Number.parseFloat(bar.getAttribute(name) ?? '');
  t.ok(bars.length > 40);
  for (const bar of bars) t.ok(numberOf(bar, 'x') + numberOf(bar, 'width') <= 100.01, bar.outerHTML);
});

t.test('Programs get JSON at the address of home', async (t) => {
  const response = await app.inject({ url: '/', headers: { accept: 'application/json' } });
  t.match(response.json(), { name: 'Carillon', docs: '/api/docs' });
  t.match(response.headers.vary, /Accept/);
});

t.test('Names of people and tasks stay text', async (t) => {
  const name = '"><script>alert(1)</script>';
  const eve = await signUp(app, { name });
  const { response, document } = await visit(app, eve).open('/');
  t.notMatch(response.body, /<script>alert/);
  t.equal(document.querySelector('.me b')?.text, name);
});
