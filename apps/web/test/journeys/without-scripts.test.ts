import t from 'tap';
import { createWorker } from '../../../api/src/entry/worker.ts';
import { buildSetupPath } from '../../../api/src/product/auth/setup/link.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { listRoutes } from '../../../api/test/support/contract/conformance.ts';
import { deliverDueMails } from '../../../api/test/support/mails.ts';
import { PASSWORD } from '../../../api/test/support/people.ts';
import { type AiAnswer, startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { startMailServer } from '../../../api/test/support/servers/mail-server.ts';
import { type ShownPage, type Visitor, visit } from '../support/visitor.ts';

const ai = await startAiServer();
const mailbox = await startMailServer(t);
const { app, ctx } = await testContext(t, {
  env: {
    AI_BASE_URL: ai.url,
    AI_API_KEY: 'a-key-of-the-operator',
    SMTP_URL: mailbox.url,
    MAIL_FROM: 'carillon@example.com',
  },
});
t.teardown(() => ai.close());
const worker = createWorker(ctx);
t.teardown(() => worker.stop());

/** Pages whose forms need no session. */
const PUBLIC = /^\/(sign-in|register|forgot-password|setup|handler\/|unsubscribe\/)/;
const NEW_PASSWORD = 'Another-2027';
const EMAIL = 'rosa@example.com';
const rosa = visit(app);

/** Completes all runs that wait. */
async function runQueued(answer: AiAnswer): Promise<void> {
  ai.answer(() => answer);
  await worker.drain();
}

const signIn = async (visitor: Visitor, password: string, email = EMAIL) =>
  visitor.submit(await visitor.open('/sign-in'), 'Sign in', { email, password });

/** What is stored, by table: the number of its rows and their hash. */
const readRows = async () => [
  ...(await ctx.db.execute(`select table_name, query_to_xml(
      format('select count(*), md5(string_agg(t::text, chr(10) order by t::text)) from %I t', table_name),
      true, true, '')::text as content
    from information_schema.tables where table_schema = 'public' order by 1`)),
];

const changesOf = ({ document }: ShownPage) => ({
  removed: document.querySelectorAll('del').map(({ text }) => text.trim()),
  added: document.querySelectorAll('ins').map(({ text }) => text.trim()),
});

t.test('The first admin has an answer after three forms', async (t) => {
  const admin = visit(app);
  const setup = await admin.open(buildSetupPath(ctx));
  const home = await admin.submit(setup, 'Create account', {
    name: 'Ada',
    email: 'ada@example.com',
    password: PASSWORD,
  });
  t.match(home, { heading: 'Home', text: /Your first task/ });
  const run = await admin.submit(home, 'Save and try it now', { prompt: 'Which bells ring the hours?' });
  t.match(run, { heading: /^Run of/, text: /Waiting for the answer/ });
  await runQueued({ text: 'The **quarter bells**.' });
  t.match(await admin.open(run.url), { text: /Answer.*The quarter bells\./ });
  t.match(await admin.open('/'), { heading: 'Home', text: /The quarter bells\..*Up next/ });
});

t.test('A visitor registers, saves a task and finds its answer on every page that shows answers', async (t) => {
  const register = await rosa.follow(await rosa.open('/tasks/new'), 'Create an account');
  const form = await rosa.submit(register, 'Create account', { name: 'Rosa', email: EMAIL, password: PASSWORD });
  t.match(form, { heading: 'New task' });
  const saved = await rosa.submit(form, 'Save task', { name: 'Prices', prompt: 'What does a bin cost today?' });
  await rosa.submit(saved, 'Run now');
  await runQueued({ text: 'A bin costs 64 €.' });
  const list = await rosa.open('/tasks');
  const task = await rosa.follow(list, 'Prices');
  for (const page of [await rosa.open(saved.url), task, await rosa.open('/executions'), await rosa.open('/')]) {
    t.match(page.text, /A bin costs 64 €\./, page.url);
  }
});

t.test('A changed answer is shown as a difference by the task and by the run', async (t) => {
  const task = await rosa.follow(await rosa.open('/tasks'), 'Prices');
  await rosa.submit(task, 'Run now');
  await runQueued({ text: 'A bin costs 59 €.' });
  const changed = { removed: ['64'], added: ['59'] };
  t.match(changesOf(await rosa.open(task.url)), changed);
  const run = (await rosa.open('/executions')).document.querySelector('tbody a[href^="/executions/"]');
  t.match(changesOf(await rosa.open(run?.getAttribute('href') ?? '')), changed);
});

t.test('A failure leads from home to its reason, and a retry to the answer', async (t) => {
  const task = await rosa.follow(await rosa.open('/tasks'), 'Prices');
  await rosa.submit(task, 'Run now');
  await runQueued({ status: 401, body: { error: { message: 'Incorrect key.', code: 'invalid_api_key' } } });
  const home = await rosa.open('/');
  t.match(home.text, /Needs attention ?1 item ?Prices failed/);
  const failed = await rosa.follow(home, 'See why: Prices');
  t.match(failed.text, /The provider rejected the API key.*What to do: Replace your own key.*No answer/);
  const queued = await rosa.submit(failed, 'Retry');
  t.match(queued.text, /The run is queued.*Waiting/);
  await runQueued({ text: 'A bin costs 58 €.' });
  t.match((await rosa.open(queued.url)).text, /A bin costs 58 €\./);
  t.notMatch((await rosa.open('/')).text, /Needs attention/);
});

t.test('A forgotten password is changed by the link in the mail, and other devices are signed out', async (t) => {
  const visitor = visit(app);
  const forgot = await visitor.follow(await visitor.open('/sign-in'), 'Forgot password?');
  await visitor.submit(forgot, 'Send link', { email: EMAIL });
  await deliverDueMails(ctx);
  const [link = ''] = mailbox.received.at(-1)?.text?.match(/http\S+/) ?? [];
  t.equal(new URL(link).origin, ctx.config.appUrl);
  const changed = await visitor.submit(await visitor.open(new URL(link).pathname), 'Change password', {
    newPassword: NEW_PASSWORD,
  });
  t.match(changed, { heading: 'Sign in', text: /Your password is changed/ });
  t.match(await signIn(visitor, PASSWORD), { status: 422, heading: 'Sign in' });
  t.match(await signIn(visitor, NEW_PASSWORD), { heading: 'Home' });
  t.match(await rosa.open('/tasks'), { heading: 'Sign in' });
});

t.test('Forms of a session that was ended elsewhere do nothing, and lead to the sign-in', async (t) => {
  await signIn(rosa, NEW_PASSWORD);
  const task = await rosa.follow(await rosa.open('/tasks'), 'Prices');
  const form = await rosa.follow(task, 'Edit');
  const other = visit(app);
  await signIn(other, NEW_PASSWORD);
  await other.submit(await other.open('/settings/security'), 'End all others');
  const before = await readRows();
  t.ok(before.length > 20);
  for (const { url } of listRoutes(app).filter(
    ({ method, config }) => method === 'POST' && config?.access === 'page',
  )) {
    if (PUBLIC.test(url)) continue;
    form.document
      .querySelector('#task-form')
      ?.setAttribute('action', url.replace(/:\w+/, task.url.split('/')[2] ?? ''));
    const isKept = ['/tasks/new', '/tasks/:id/edit'].includes(url);
    const asked = { heading: isKept ? 'Not sent' : 'Sign in', text: /Your session has ended, and nothing was changed/ };
    t.match(await rosa.submit(form, 'Save task', { name: 'Changed' }), asked, url);
  }
  t.same(await readRows(), before);
  form.document.querySelector('#task-form')?.setAttribute('action', `${task.url}/edit`);
  const kept = await rosa.submit(form, 'Save task', { description: 'Typed & kept\n</textarea>' });
  t.match(kept, { status: 401, heading: 'Not sent' });
  await signIn(rosa, NEW_PASSWORD);
  const shown = await rosa.submit(kept, 'Send again');
  t.match(shown, { status: 403, text: /You are signed in again/ });
  t.match(await rosa.submit(shown, 'Send again'), { url: task.url, text: /Typed & kept <\/textarea>/ });
  t.notSame(await readRows(), before);
});

t.test('Nothing can be seen after the sign-out', async (t) => {
  const out = await rosa.submit(await signIn(rosa, NEW_PASSWORD), 'Sign out');
  t.match(out, { heading: 'Sign in', text: /You are signed out/ });
  t.match(await rosa.open('/tasks'), { heading: 'Sign in' });
});
