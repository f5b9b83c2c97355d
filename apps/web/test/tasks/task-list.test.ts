import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { type Person, signUp, signUpAlice, signUpBob } from '../../../api/test/support/people.ts';
import { insertHistory, type PastRun } from '../../../api/test/support/task-history.ts';
import { insertTask, insertTasks, readRuns, readTaskRow } from '../../../api/test/support/task-rows.ts';
import { SESSION_STATEMENTS, type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx } = await testContext(t);
const bob = await signUpBob(app);
const tomorrow = { nextExecutionAt: new Date('2026-11-21T09:00:00Z') };

/** A new person with tasks of these names, and their ids. */
async function openList(names: readonly string[], values: Parameters<typeof insertTask>[2] = tomorrow) {
  const person = await signUp(app);
  const ids: number[] = [];
  for (const name of names) ids.push(await insertTask(ctx, person.id, { ...values, name }));
  return { person, ids: ids.map(String), visitor: visit(app, person) };
}

const namesOn = ({ document }: ShownPage) => document.querySelectorAll('tbody th > a').map(({ text }) => text);
const day = (number: number) => new Date(Date.UTC(2026, 10, number, 9));
const plan = (runs: Partial<PastRun>[]): PastRun[] =>
  runs.map((run, at) => ({ plannedFor: day(at + 1), fate: 'ran', ...run }));

t.test(
  'A task has its schedule in words, the fates of its planned runs, its last outcome, its next run and its cost',
  async (t) => {
    const alice = await signUpAlice(app);
    const id = await insertTask(ctx, alice.id, {
      name: 'Price watch',
      recurrencePattern: '30 9 * * 1-5',
      timezone: 'Europe/Berlin',
      nextExecutionAt: new Date('2026-11-20T10:28:00Z'),
    });
    await insertHistory(
      ctx,
      id,
      plan([{ status: null }, { costUsd: 5 }, { fate: 'late' }, { status: 'failed' }, { fate: 'missed' }]),
    );
    const count = countStatements(ctx.db);
    const page = await visit(app, alice).open('/tasks');
    t.equal(count(), SESSION_STATEMENTS + 1, 'the session and the list');
    t.match(page, { status: 200, heading: 'Tasks' });
    const strip = page.document.querySelector('.strip')?.getAttribute('aria-label');
    t.equal(strip, 'Last 5 planned runs: 2 on time, 1 late, 1 failed, 1 missed');
    const cells = page.document.querySelectorAll('tbody tr > *').map(({ text }) => text.trim());
    t.same(cells.slice(1), [
      'Price watchWeekdays at 09:30, Berlin time',
      '',
      'MissedThu 5 Nov, 09:00',
      'Today at 10:28in 28 minutes',
      '$5.04',
    ]);
  },
);

t.test('A run counts as its last retry in the strip', async (t) => {
  const { person, ids } = await openList(['Tried again']);
  const taskId = Number(ids[0]);
  const [failed = 0, tried = 0] = await insertHistory(ctx, taskId, plan([{ status: 'failed' }, { status: 'failed' }]));
  await retry(person, taskId, failed, { status: 'completed', completedAt: day(1) });
  await retry(person, taskId, tried, { status: 'pending', completedAt: null });
  const page = await visit(app, person).open('/tasks');
  t.equal(
    page.document.querySelector('.strip')?.getAttribute('aria-label'),
    'Last 2 planned runs: 1 on time, 1 running',
  );
  t.match(page.text, /Waiting to retry/);
});

async function retry(
  { id: userId }: Person,
  taskId: number,
  retryOfId: number,
  { status, completedAt }: { status: string; completedAt: Date | null },
) {
  const ended = completedAt ? `'${completedAt.toISOString()}'` : 'null';
  await ctx.db.execute(`insert into executions (task_id, user_id, status, trigger, attempt, retry_of_id, run_at, completed_at, created_at)
    values (${taskId}, ${userId}, '${status}', 'retry', 2, ${retryOfId}, now(), ${ended}, now())`);
}

t.test('The cost of a task that runs more than 750 times in 30 days is said to be more', async (t) => {
  const { person, visitor, ids } = await openList(['Each minute', 'Each hour']);
  const insertRuns = (taskId: string | undefined, count: number) =>
    ctx.db.execute(`insert into executions (task_id, user_id, status, trigger, run_at, completed_at, cost_usd, created_at)
      select ${taskId}, ${person.id}, 'completed', 'manual', at, at, 0.01, at
      from (select timestamptz '2026-11-20T10:00Z' - n * interval '1 min' from generate_series(${count}, 1, -1) n) r(at)`);
  await insertRuns(ids[0], 800);
  await insertRuns(ids[1], 720);
  const costs = (await visitor.open('/tasks')).document.querySelectorAll('tbody .num').map(({ text }) => text);
  t.same(costs, ['over $7.50', '$7.20']);
});

t.test(
  'A person without tasks reads what will stand there, and a filter without a hit offers to clear it',
  async (t) => {
    const { visitor } = await openList([]);
    const empty = await visitor.open('/tasks');
    t.match(empty.text, /No tasks yet/);
    t.equal(empty.document.querySelector('.empty a')?.getAttribute('href'), '/tasks/new');
    const { visitor: other } = await openList(['News']);
    const page = await other.open('/tasks?search=%25&status=paused');
    t.match(page.text, /No tasks match this search/);
    t.equal(page.document.querySelector('input[name=search]')?.getAttribute('value'), '%');
    t.equal(page.document.querySelector('.empty a')?.getAttribute('href'), '/tasks');
  },
);

t.test('The list is searched by name, filtered by status and sorted by next run, name or age', async (t) => {
  const { person, visitor } = await openList(['beta', 'Alpha', 'gamma']);
  await insertTask(ctx, person.id, { name: 'Resting alpha', status: 'paused', nextExecutionAt: null });
  await insertTask(ctx, person.id, { name: 'Soon', nextExecutionAt: new Date('2026-11-20T11:00:00Z') });
  const names = async (query: string) => namesOn(await visitor.open(`/tasks?${query}`));
  t.same(await names(''), ['Soon', 'beta', 'Alpha', 'gamma', 'Resting alpha']);
  t.same(await names('sort=name'), ['Alpha', 'beta', 'gamma', 'Resting alpha', 'Soon']);
  t.same(await names('sort=newest'), ['Soon', 'Resting alpha', 'gamma', 'Alpha', 'beta']);
  t.same(await names('search=ALPHA'), ['Alpha', 'Resting alpha']);
  t.same(await names('search=alpha&status=paused'), ['Resting alpha']);
  t.same((await names('sort=cost&status=lost&cursor=')).length, 5, 'unknown values are left out');
  t.equal((await visitor.open('/tasks?cursor=eA')).status, 400);
});

t.test(
  'Pages follow each other without gaps and repeats in every order, also among tasks without a next run',
  async (t) => {
    const { person, visitor } = await openList([]);
    const owners = Array.from({ length: 40 }, () => person.id);
    await insertTasks(ctx, owners.slice(0, 20), { ...tomorrow });
    await insertTasks(ctx, owners, { status: 'paused', nextExecutionAt: null });
    for (const query of ['', '?sort=name', '?sort=newest', '?search=task', '?status=paused&sort=name']) {
      const links: string[] = [];
      let next: string | undefined = `/tasks${query}`;
      while (next !== undefined && links.length < 100) {
        const page: ShownPage = await visitor.open(next);
        links.push(...page.document.querySelectorAll('tbody th > a').map((link) => link.getAttribute('href') ?? ''));
        next = page.document.querySelector('a[rel=next]')?.getAttribute('href');
      }
      const count = query.includes('paused') ? 40 : 60;
      t.match([links.length, new Set(links).size], [count, count], query || 'next run');
    }
  },
);

t.test('A search looks at 5,000 tasks a page, and continues on the next page', async (t) => {
  const { person, visitor } = await openList(['needle'], { nextExecutionAt: null, status: 'paused' });
  await ctx.db.execute(`insert into tasks (user_id, name, prompt, scheduled_for, recurrence, timezone, ai_model, max_tokens, temperature, status, created_at, updated_at)
    select ${person.id}, 'hay ' || n, 'Say something.', now(), 'daily', 'UTC', 'm', 1, 0, 'paused', now(), now() from generate_series(1, 5000) n`);
  const first = await visitor.open('/tasks?search=needle&sort=newest');
  t.match(first.text, /No match so far.*The search continues on the next page/);
  const next = first.document.querySelector('a[rel=next]')?.getAttribute('href') ?? '';
  t.same(namesOn(await visitor.open(next)), ['needle']);
});

t.test('The chosen tasks are run, paused and resumed, and the list says what happened where it was', async (t) => {
  const { visitor, ids } = await openList(['One', 'Two', 'Three']);
  const list = await visitor.open('/tasks?sort=name&search=o');
  const run = await visitor.submit(list, 'Run now', { id: ids.slice(0, 2) });
  t.match(run, { status: 200, url: '/tasks?search=o&sort=name', text: /2 tasks started\./ });
  t.equal((await readRuns(ctx, Number(ids[1])))[0]?.status, 'pending');
  const paused = await visitor.submit(run, 'Pause', { id: [ids[0] ?? ''] });
  t.match(paused.text, /1 task paused\./);
  const again = await visitor.submit(paused, 'Pause', { id: ids });
  t.match(again.text, /3 tasks paused\./, 'a paused task stays paused');
  t.match((await visitor.submit(again, 'Resume', { id: ids })).text, /3 tasks resumed\./);
  t.equal((await readTaskRow(ctx, Number(ids[2]))).status, 'active');
});

t.test('What one chosen task refuses does not stop the others', async (t) => {
  const { person, visitor, ids } = await openList(['One', 'Two']);
  const done = await insertTask(ctx, person.id, { name: 'Done', status: 'completed', nextExecutionAt: null });
  const list = await visitor.open('/tasks');
  const page = await visitor.submit(list, 'Pause', { id: [...ids, String(done)] });
  t.match(page.text, /2 tasks paused, 1 refused: only an active task can be paused\./);
  t.match((await visitor.submit(list, 'Pause', { id: [String(done)] })).text, /1 task not paused: only an/);
  t.match((await visitor.submit(list, 'Pause', { id: [] })).text, /No task is selected/);
});

t.test('The tasks of a stranger are neither shown, nor changed, nor named before they are deleted', async (t) => {
  const { visitor, ids } = await openList(['Mine']);
  const foreign = await insertTask(ctx, bob.id, { ...tomorrow, name: 'Secret of Bob' });
  const list = await visitor.open('/tasks');
  t.notMatch(list.text, /Secret/);
  for (const button of ['Run now', 'Pause']) {
    const page = await visitor.submit(list, button, { id: [String(foreign)] });
    t.match(page.text, /1 task not (started|paused): Task not found\./);
  }
  const asked = await visitor.open(`/tasks/delete?ids=${ids},${foreign}`);
  t.match(asked, { heading: 'Delete Mine' });
  t.notMatch(asked.text, /Secret/);
  t.match(await visitor.submit(asked, 'Delete task', { id: [String(foreign)] }), {
    text: /1 task not deleted/,
  });
  t.equal((await readTaskRow(ctx, foreign)).status, 'active');
  t.equal((await readRuns(ctx, foreign)).length, 0);
});

t.test('Chosen tasks are deleted after a page that names them', async (t) => {
  const { visitor, ids } = await openList(['One', 'Two', 'Three']);
  const list = await visitor.open('/tasks?choose=all');
  t.equal(list.document.querySelectorAll('tbody input[checked]').length, 3);
  const asked = await visitor.submit(list, 'Delete…', { id: ids.slice(0, 2) });
  t.match(asked, { status: 200, heading: 'Delete 2 tasks', text: /One, 0 runs\s?Two, 0 runs/ });
  t.match(await visitor.submit(asked, 'Delete 2 tasks'), { url: '/tasks', text: /2 tasks deleted\./ });
  t.match(await visitor.open(`/tasks/delete?ids=${ids[0]}`), { status: 404 });
  t.match(await visitor.open('/tasks/delete?ids=x,,0,99999999999'), { status: 404 });
});

t.test('Names stay text', async (t) => {
  const names = [
    '"><script>alert(1)</script>',
    '</title><img src=x onerror=alert(1)>',
    '{{7*7}} <%= 7 %>',
    '\u202Egnp.exe',
    'x'.repeat(100),
  ];
  const { visitor, ids } = await openList(names);
  for (const url of ['/tasks', `/tasks/delete?ids=${ids}`, '/tasks?search=%22%3E%3Cscript%3Ealert(1)']) {
    const { document, response } = await visitor.open(url);
    t.notMatch(response.body, /<script>alert|<img src=x/, url);
    t.same(document.querySelectorAll('script:not([src])').length, 0);
  }
  t.same(new Set(namesOn(await visitor.open('/tasks'))), new Set(names));
});

t.test('Stopped tasks are the first ones, and a filter shows what needs attention', async (t) => {
  const { person, visitor } = await openList(['Well']);
  const paused = { status: 'paused', nextExecutionAt: null } as const;
  await insertTask(ctx, person.id, {
    name: 'Stopped',
    status: 'failed',
    nextExecutionAt: null,
    consecutiveFailures: 5,
  });
  await insertTask(ctx, person.id, { ...tomorrow, name: 'Failing', consecutiveFailures: 1 });
  await insertTask(ctx, person.id, { ...tomorrow, name: 'Late', alertingSince: new Date('2026-11-20T09:00:00Z') });
  await insertTask(ctx, person.id, { ...paused, name: 'Paused' });
  const page = await visitor.open('/tasks');
  t.equal(namesOn(page)[0], 'Stopped');
  t.match(page.document.querySelector('tbody tr .failed')?.text, /Stopped/);
  const attention = await visitor.open('/tasks?status=attention');
  t.same(namesOn(attention).sort(), ['Failing', 'Late', 'Stopped']);
  t.equal(attention.document.querySelector('option[selected][value=attention]')?.text, 'Needs attention');
});
