import { eq } from 'drizzle-orm';
import t from 'tap';
import { tasks } from '../../../../packages/db/src/index.ts';
import { testEngine } from '../../../api/test/support/engine.ts';
import { type Person, signUp } from '../../../api/test/support/people.ts';
import { insertTask, readRuns } from '../../../api/test/support/task-rows.ts';
import { type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx, clock, ai, runDue } = await testEngine(t);
let dave: Person;
t.beforeEach(async () => {
  dave = await signUp(app, { name: 'Dave', timezone: 'Europe/Berlin' });
});

const insert = (name: string, given: Parameters<typeof insertTask>[2] = {}) => {
  const at = new Date('2026-11-20T10:01:00Z');
  return insertTask(ctx, dave.id, {
    name,
    scheduledFor: at,
    nextExecutionAt: at,
    recurrence: 'once',
    maxRetries: 0,
    ...given,
  });
};
const answer = (text: string) => ai.answer(() => ({ text }));
async function run(t: Parameters<typeof runDue>[0], at = '2026-11-20T10:01:00.000Z') {
  clock.set(at);
  await runDue(t);
  clock.set(new Date(ctx.now().getTime() + 1000));
}
const titleOf = ({ document }: ShownPage) => document.querySelector('title')?.text;
const iconOf = ({ document }: ShownPage) => document.querySelector('#icon')?.getAttribute('href') ?? '';
const countOf = ({ document }: ShownPage) => {
  const count = document.querySelector('#unseen-runs');
  return count?.hasAttribute('hidden') ? null : count?.text.trim();
};
const namesOf = ({ document }: ShownPage) =>
  document.querySelectorAll('tbody tr').map((row) => row.querySelector('.whole')?.text.replace(/\s+/g, ' ').trim());

t.test('Unseen runs are counted in the title, the icon and the menu of each page, until they are opened', async (t) => {
  const [news] = [await insert('News'), await insert('Weather')];
  const visitor = visit(app, dave);
  const before = await visitor.open('/tasks');
  t.same([titleOf(before), countOf(before)], ['Tasks · Carillon', null]);
  await run(t);
  const after = await visitor.open('/tasks');
  t.same([titleOf(after), countOf(after)], ['(2) Tasks · Carillon', '2 new']);
  t.not(iconOf(after), iconOf(before));
  t.equal((await app.inject(iconOf(after))).statusCode, 200);
  const [first] = await readRuns(ctx, news);
  const opened = await visitor.open(`/executions/${first?.id}`);
  t.same(
    [titleOf(opened), countOf(opened)],
    ['(1) Run of Friday 20 November, 11:01 · Carillon', '1 new'],
    'it is seen by now',
  );
  const list = await visitor.open('/executions');
  t.match(namesOf(list), [/^Weather new/, /^News(?! new)/]);
  const seen = await visitor.submit(list, 'All seen');
  t.match(seen, { url: '/executions', text: /1 run is marked as seen\./ });
  t.same([titleOf(seen), countOf(seen), iconOf(seen)], ['Runs · Carillon', null, iconOf(before)]);
});

t.test('The icon of each page says that something needs attention, until it is put away', async (t) => {
  const id = await insert('News');
  const visitor = visit(app, dave);
  const before = await visitor.open('/tasks');
  await ctx.db.update(tasks).set({ consecutiveFailures: 1 }).where(eq(tasks.id, id));
  const after = await visitor.open('/tasks');
  t.match(iconOf(after), /mark-trouble/);
  t.equal((await app.inject(iconOf(after))).statusCode, 200);
  t.equal(after.document.querySelector('#unseen-runs')?.getAttribute('data-icon'), iconOf(after));
  const home = await visitor.submit(await visitor.open('/'), 'I know: News');
  t.equal(iconOf(home), iconOf(before));
});

t.test('A run that ends after the page was read stays new', async (t) => {
  await insert('News');
  await run(t);
  const visitor = visit(app, dave);
  const list = await visitor.open('/executions?q=');
  const later = new Date('2026-11-20T10:02:00Z');
  await insert('Later', { scheduledFor: later, nextExecutionAt: later });
  await run(t, later.toISOString());
  const seen = await visitor.submit(list, 'All seen');
  t.match(namesOf(seen), [/^Later new/, /^News(?! new)/]);
});

t.test('Runs are found by words of their prompt and answer, and by a part of the name of their task', async (t) => {
  await insert('News', { prompt: 'What is new about compost?' });
  answer('A compost bin costs 59 € at Gartenhof.');
  await run(t);
  const later = new Date('2026-11-20T10:02:00Z');
  await insert('Old news', { prompt: 'Tell a story', scheduledFor: later, nextExecutionAt: later });
  answer('Once upon a time.');
  await run(t, later.toISOString());
  const visitor = visit(app, dave);
  const find = async (query: string) =>
    namesOf(await visitor.open(`/executions?${query}`)).map((name) => name?.replace(/ new(?!s).*/, ''));
  t.same(await find('q=compost'), ['News']);
  t.same(await find('q=Gartenhof+bin'), ['News']);
  t.same(await find('q=time'), ['Old news']);
  t.same(await find('q=nothing'), []);
  t.same(await find('taskName=NEWS'), ['Old news', 'News']);
  t.same(await find('taskName=old&q=compost'), []);
  t.same(await find('taskName=100%25'), []);
  const page = await visitor.open('/executions?q=compost&taskName=new');
  t.equal(page.document.querySelector('#q')?.getAttribute('value'), 'compost');
  t.equal(page.document.querySelector('#taskName')?.getAttribute('value'), 'new');
});

t.test('The filter of the outcome has what happened: late, failed, over quota, stopped, missed and new', async (t) => {
  await insert('Late', { recurrencePattern: '1-5 10 * * *', recurrence: 'daily' });
  await run(t, '2026-11-20T10:05:30.000Z');
  const at = new Date('2026-11-20T10:06:00Z');
  ai.answer(() => ({ status: 401 }));
  await insert('Failed', { scheduledFor: at, nextExecutionAt: at });
  await run(t, at.toISOString());
  const visitor = visit(app, dave);
  const find = async (outcome: string) => {
    const { document } = await visitor.open(`/executions?outcome=${outcome}`);
    return document.querySelectorAll('tbody tr').map((row) => row.text.replace(/\s+/g, ' ').trim());
  };
  t.match(await find('late'), [/Late/]);
  t.match(await find('failed'), [/Failed/]);
  t.equal((await find('new')).length, 2);
  t.same(
    [await find('stopped'), await find('over_quota'), await find('changed'), await find('running')],
    [[], [], [], []],
  );
  const missed = await find('missed');
  t.match(missed, [
    /^Today at 11:04.*Missed ?Late ?Run missed ones: Late$/,
    /^Today at 11:03/,
    /^Today at 11:02/,
    /^Today at 11:01/,
  ]);
  t.equal(missed.length, 4);
  t.same(await find('missed&to=2026-11-19'), []);
  t.equal((await find('missed&taskName=lat')).length, 4);
  t.same(await find('missed&q=words'), []);
  t.equal((await visitor.open('/executions?outcome=missed&from=2026-11-21&to=2026-11-20')).status, 422);
});
