import { getTexts } from '@carillon/texts';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { executions, listedModels, settings, users } from '../../../../packages/db/src/index.ts';
import { VERSION } from '../../../api/src/lib/config/config.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp, signUpAda, signUpAlice } from '../../../api/test/support/people.ts';
import { insertEndedRuns, insertTask } from '../../../api/test/support/task-rows.ts';
import { createFixedAi, postTask, REFUSED_OUTCOME, runDue, TASK } from '../../../api/test/support/tasks.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

let isWorkerAlive = true;
const { app, ctx, clock } = await testContext(t, { worker: { isAlive: () => isWorkerAlive } });
const ada = await signUpAda(app);
const alice = await signUpAlice(app);

t.test('A service without runs is well, and says so in few statements', async (t) => {
  const admin = visit(app, ada);
  const statements = countStatements(ctx.db);
  const { status, heading, text } = await admin.open('/admin');
  t.equal(statements(), SESSION_STATEMENTS + 2);
  t.match({ status, heading }, { status: 200, heading: 'Administration' });
  t.match(text, /Everything works.*Database ?Connected.*Schema ?Up to date.*Worker ?Running.*Maintenance ?Off/);
  t.match(text, /Runs, last 24 h ?0.*Active users ?2 ?of 2 users, 2 new in 30 days/);
  t.match(text, getTexts('en').admin.noTopUsers);
});

t.test('Runs of the last 24 hours and 30 days are counted, and the users with the most are named', async (t) => {
  await postTask(app, alice, { aiModel: 'offline' });
  clock.set(TASK.scheduledFor);
  await runDue(ctx);
  clock.advance(86_400_000);
  await runDue({ ...ctx, ai: createFixedAi(REFUSED_OUTCOME) });
  clock.advance(30 * 60_000);
  const taskId = await postTask(app, alice, { scheduledFor: '2027-01-01T09:00:00.000Z' });
  const { headers } = alice;
  const started = await app.inject({ method: 'POST', url: `/api/tasks/${taskId}/execute`, headers });
  const stopped = await app.inject({
    method: 'POST',
    url: `/api/executions/${started.json().executionId}/cancel`,
    headers,
  });
  t.equal(stopped.statusCode, 200, 'a stop is no failure');
  const admin = visit(app, ada);
  const { document, text } = await admin.open('/admin');
  const labels = document.querySelectorAll('svg.chart').map((chart) => chart.getAttribute('aria-label'));
  t.same(labels, [
    'Runs in the last 24 hours: 0 completed, 1 failed',
    'Runs in the last 30 days: 1 completed, 1 failed',
  ]);
  t.match(text, /Most runs.*Alice ?alice@example\.com ?3/);
  const titles = document.querySelectorAll('svg.chart title').map((title) => title.text);
  t.equal(titles.length, 24 + 30);
  t.equal(titles.filter((title) => /[1-9]\d* (completed|failed)/.test(title)).length, 3);
});

t.test('What is wrong with the service is said in sentences', async (t) => {
  const admin = visit(app, ada);
  await postTask(app, alice, { scheduledFor: new Date(ctx.now().getTime() + 60_000).toISOString() });
  clock.advance(10 * 60_000);
  isWorkerAlive = false;
  const { text } = await admin.open('/admin');
  isWorkerAlive = true;
  t.match(
    text,
    /2 things need attention.*The worker does not respond.*A run has been due for 9 min and has not started/,
  );
  await runDue(ctx);
});

t.test('Runs that fail say why, and where that is corrected', async (t) => {
  for (const [count, person, errorCode] of [
    [8, alice, 'AUTHENTICATION_FAILED'],
    [4, ada, 'AUTHENTICATION_FAILED'],
    [3, alice, 'CANCELLED'],
  ] as const) {
    const taskId = await insertTask(ctx, person.id, { nextExecutionAt: new Date('2027-01-01') });
    await insertEndedRuns(ctx, { taskId, userId: person.id, count });
    await ctx.db.update(executions).set({ status: 'failed', errorCode }).where(eq(executions.taskId, taskId));
  }
  const { document, text } = await visit(app, ada).open('/admin');
  t.match(text, /1 thing needs attention.*The provider rejected the API key: 12 runs of 2 users\./);
  t.notMatch(text, /The run was stopped/);
  t.match(text, /Runs, last 24 h ?\d+ ?1[23] failed/, 'a stop is no failure');
  t.ok(document.querySelector('.needs a[href="/admin/providers"]'));
});

t.test(
  'The overview shows the version, providers, mail, storage and the last backup, and says that it is old',
  async (t) => {
    const admin = visit(app, ada);
    const { text } = await admin.open('/admin');
    t.match(
      text,
      new RegExp(`Version ?${VERSION}.*AI providers ?None.*Mail ?Written to files in.*File storage ?The database`),
    );
    t.match(text, /Last backup ?None\. Run carillon backup\./);
    await ctx.db.update(settings).set({ lastBackupAt: new Date(ctx.now().getTime() - 6 * 86_400_000) });
    t.match((await admin.open('/admin')).text, /Last backup.*6 days ago/);
    await ctx.db.update(settings).set({ lastBackupAt: new Date(ctx.now().getTime() - 8 * 86_400_000) });
    t.match((await admin.open('/admin')).text, /The last backup was made on .* Run carillon backup\./);
  },
);

t.test('An admin sees what the doctor finds', async (t) => {
  const admin = visit(app, ada);
  const overview = await admin.open('/admin');
  t.match(await admin.follow(overview, 'Check now'), {
    status: 200,
    heading: 'Installation checks',
    text: /No problem found\./,
  });
  await ctx.db
    .insert(listedModels)
    .values({ provider: 'local', model: '<b>old</b>', listedAt: ctx.now(), warnedAt: ctx.now() });
  const page = await admin.open('/admin/checks');
  t.match(
    page.text,
    /AI provider: The model <b>old<\/b> is gone from the list of the provider local\. ?Choose another model/,
  );
  t.equal(page.document.querySelectorAll('.needs li b').length, 1);
  await ctx.db.update(users).set({ language: 'pt-BR' }).where(eq(users.id, ada.id));
  t.match((await admin.open('/admin/checks')).text, /provedor de IA: O modelo <b>old<\/b> saiu da lista/);
  await ctx.db.update(users).set({ language: 'en' }).where(eq(users.id, ada.id));
  const ofDatabase = await admin.open('/admin/checks?only=database');
  t.match(ofDatabase.text, /The model <b>old<\/b> is gone.*/);
  t.match(await admin.follow(ofDatabase, 'Check mail and storage too'), { url: '/admin/checks', text: /Check again/ });
  t.match(await visit(app, alice).open('/admin/checks'), { status: 404 });
});

t.test('Maintenance starts and ends on a page of its own, and closes the service to others', async (t) => {
  const greta = await signUp(app, { name: 'Greta', role: 'ADMIN' });
  const admin = visit(app, greta);
  const on = await admin.submit(await admin.open('/admin/maintenance'), 'Start maintenance');
  t.match(on, { url: '/admin', text: /Maintenance is on.*3 things need attention.*Maintenance ?On/ });
  t.match(await visit(app, alice).open('/'), { status: 503 });
  const off = await admin.submit(await admin.open('/admin/maintenance'), 'End maintenance');
  t.match(off, { url: '/admin', text: /Maintenance is off/ });
  t.match(await visit(app, alice).open('/'), { status: 200 });
});

t.test('System settings are saved, and refused with the message at the field', async (t) => {
  const greta = await signUp(app, { name: 'Greta', role: 'ADMIN' });
  const admin = visit(app, greta);
  const form = await admin.open('/admin/settings');
  const values = { trialDurationDays: '30', maxTasksPerUser: '5', maxExecutionsPerDay: '9', defaultModel: 'a/b' };
  t.match(await admin.submit(form, 'Save', values), { url: '/admin/settings', text: /The system settings are saved/ });
  const { settings } = (await app.inject({ url: '/api/admin/settings', headers: greta.headers })).json();
  t.match(settings, { trialDurationDays: 30, maxTasksPerUser: 5, maxExecutionsPerDay: 9, defaultModel: 'a/b' });
  for (const [name, value] of [
    ['trialDurationDays', 'a week'],
    ['trialDurationDays', '-1'],
    ['maxTasksPerUser', ''],
    ['maxExecutionsPerDay', '99999999999'],
    ['defaultModel', '"><script>'.repeat(30)],
  ] as const) {
    const refused = await admin.submit(form, 'Save', { [name]: value });
    t.equal(refused.status, 422, `${name}=${value}`);
    t.equal(refused.document.querySelector(`#${name}`)?.getAttribute('aria-invalid'), 'true', name);
    t.equal(refused.document.querySelector(`#${name}`)?.getAttribute('value'), value, name);
  }
});

t.test('The audit log is filtered by account, actor and kind', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  const payload = { plan: 'pro' };
  await app.inject({ method: 'PATCH', url: `/api/admin/users/${bob.id}`, headers: ada.headers, payload });
  const admin = visit(app, ada);
  const rows = async (query: string) => {
    const { document } = await admin.open(`/admin/audit?${query}`);
    return document.querySelectorAll('tbody tr').map(({ text }) => text.replace(/\s+/g, ' ').trim());
  };
  for (const account of [String(bob.id), bob.email, ` ${bob.email.toUpperCase()}`]) {
    const found = await rows(`account=${encodeURIComponent(account)}`);
    t.equal(found.length, 2, account);
    t.match(found[0], /Account changed.*ada@example\.com.*Plan: trial → Pro/);
  }
  t.equal((await rows(`account=${bob.id}&actor=ada@example.com&kind=user.changed`)).length, 1);
  t.equal((await rows(`account=${bob.id}&actor=${bob.id}&kind=user.changed`)).length, 0);
  const none = await admin.open('/admin/audit?account=nobody@example.com&kind=%3Cscript%3E');
  t.match(none, { status: 200, text: /No entry matches: account nobody@example\.com, <script>/ });
  t.equal(none.document.querySelectorAll('main script').length, 0);
  t.match(await admin.open('/admin/audit?cursor=x'), { status: 400, heading: 'Audit log' });
});

t.test('A long audit log continues at its cursor, in few statements a page', async (t) => {
  const eve = await signUp(app, { name: 'Eve' });
  for (let count = 0; count < 51; count++) {
    const payload = { trialEndsAt: new Date(Date.UTC(2027, 0, 1 + count)).toISOString() };
    await app.inject({ method: 'PATCH', url: `/api/admin/users/${eve.id}`, headers: ada.headers, payload });
  }
  const admin = visit(app, ada);
  const statements = countStatements(ctx.db);
  const first = await admin.open(`/admin/audit?account=${eve.id}&kind=user.changed`);
  t.equal(statements(), SESSION_STATEMENTS + 1);
  const next = first.document.querySelector('a[rel=next]')?.getAttribute('href') ?? '';
  t.match(next, new RegExp(`account=${eve.id}&kind=user.changed&cursor=`));
  const second = await admin.open(next);
  t.equal(second.document.querySelectorAll('tbody tr').length, 1);
  t.match(second.text, /1 entry.*First page/);
});

t.test('The audit log says events, fields and values in words of the language', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  const channel = { kind: 'ntfy', name: 'Phone', url: 'https://ntfy.example.com', topic: 'news' };
  await app.inject({ method: 'POST', url: '/api/channels', headers: bob.headers, payload: channel });
  const payload = { isActive: false, trialEndsAt: null };
  await app.inject({ method: 'PATCH', url: `/api/admin/users/${bob.id}`, headers: ada.headers, payload });
  const read = async (url: string) => (await visit(app, ada).open(url)).text;
  const english = await read(`/admin/audit?account=${bob.id}`);
  t.match(english, /Account changed.*Active: yes → no ?Trial ends: \w{3} \d+ \w{3}, \d\d:\d\d → none.*Channel created/);
  t.notMatch(english, /channel\.created|isActive|\dT\d/);
  t.match(await read('/admin/audit?kind=constructor'), /No entry matches: constructor\./);
  await ctx.db.update(users).set({ language: 'pt-BR' }).where(eq(users.id, ada.id));
  const portuguese = await read(`/admin/users/${bob.id}`);
  await ctx.db.update(users).set({ language: 'en' }).where(eq(users.id, ada.id));
  t.match(portuguese, /Conta mudada.*Ativo: sim → não.*Canal criado.*Nome: Phone/);
});

t.test('Details of the audit log stay text', async (t) => {
  const details = JSON.stringify({
    before: { name: '<img src=x>' },
    after: { name: '"><script>alert(1)</script>' },
    list: ['<b>'],
  });
  await ctx.db.execute(`insert into audit_log (at, kind, actor_email, details, address)
    values (now(), '<i>odd</i>.kind', '<u>@x', '${details}', '<s>')`);
  const { document, text } = await visit(app, ada).open('/admin/audit');
  t.match(text, /<i>odd<\/i>\.kind.*list: <b>.*Name: <img src=x> → "><script>alert\(1\)/);
  t.equal(document.querySelectorAll('main script, main img, main i, main u, main s, main b').length, 0);
});
