import t from 'tap';
import { START, testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readRuns, setComparison } from '../../../api/test/support/task-rows.ts';
import { answer, createModel, failure, runAll } from '../support/runs.ts';
import { visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx, clock } = await testContext(t, { ai: model.ai });
const HOUR_MS = 3_600_000;

const newAlice = () => signUp(app, { name: 'Alice', timezone: 'UTC' });
t.beforeEach(() => clock.set(START));

/** Runs the task with each of the answers, a day apart; a failure without one. Returns the ids of its runs. */
async function runDaily(taskId: number, answers: (string | null)[]): Promise<number[]> {
  for (const [day, text] of answers.entries()) {
    clock.set(new Date(START.getTime() + day * 24 * HOUR_MS));
    await runAll(ctx, model, text === null ? failure('TIMEOUT', 'Too slow.') : answer(text));
  }
  return (await readRuns(ctx, taskId)).map(({ id }) => id);
}

t.test('A watched answer that changed has its own sign in the lists, the strip and on its page', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { name: 'Price of bells', notify: 'change' });
  const ids = await runDaily(task, ['12 EUR', '12 EUR', '11 EUR', null, '11 EUR', '10 EUR']);
  const visitor = visit(app, alice);

  const runs = await visitor.open('/executions');
  const outcomes = runs.document.querySelectorAll('tbody .outcome').map(({ text }) => text.trim());
  t.same(outcomes, ['Changed', 'Completed', 'Failed', 'Changed', 'Completed', 'Completed']);

  const page = await visitor.open(`/tasks/${task}`);
  t.match(page.text, /Last 6 planned runs ?3 on time, 2 changed, 1 failed/);
  t.match(
    page.document
      .querySelectorAll('svg.strip title')
      .map(({ text }) => text)
      .at(-1),
    /Changed$/,
  );
  const list = await visitor.open('/tasks');
  t.match(list.document.querySelector('svg.strip')?.getAttribute('aria-label'), /3 on time, 2 changed, 1 failed/);
  t.match(list.document.querySelector('tbody tr')?.text, /Changed/);
  t.ok(list.document.querySelector('#key')?.text.includes('changed'), 'the key says what the sign means');

  const changed = await visitor.open(`/executions/${ids[2]}`);
  t.match(
    changed.text,
    /Changed · run \d+.*Changed since the last success ?since .*1 line changed, 0 added, 0 removed\. ?1211 EUR/,
  );
  const after = await visitor.open(`/executions/${ids[4]}`);
  t.match(after.text, /Completed · run \d+.*Changes ?since .*The answer is the same\./);
  const link = after.document.querySelector('section[aria-labelledby=changes] .head a');
  t.equal(link?.getAttribute('href'), `/executions/${ids[2]}`, 'the failed run is passed over');
});

t.test('A changed answer of a task that watches nothing is a run like others', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  const [, id] = await runDaily(task, ['One haiku', 'Another haiku']);
  const visitor = visit(app, alice);
  t.match((await visitor.open('/executions')).text, /Completed.*Completed/);
  t.match((await visitor.open(`/tasks/${task}`)).text, /2 on time/);
  t.match(
    (await visitor.open(`/executions/${id}`)).text,
    /Completed · run.*Changed since the last success.*1 line changed/,
  );
});

t.test('The watched values of a run stand with their path, before and now, as text', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { watch: ['price'] });
  const [, id] = (await runDaily(task, ['{"price":12}', '{"price":11}'])) as [number, number];
  const hostile = '"><script>alert(1)</script>';
  const changes = [
    { path: 'price', from: 12, to: '11' },
    { path: 'list[id="a"].v', to: null },
    { path: hostile, from: hostile, cut: true },
    { path: '', cut: true },
  ];
  await setComparison(ctx, id, { output: { price: 11 }, changes });
  const visitor = visit(app, alice);
  const page = await visitor.open(`/executions/${id}`);
  const rows = page.document.querySelectorAll('section[aria-labelledby=changes] tbody tr');
  t.same(
    rows.map((row) => row.querySelectorAll('th, td').map(({ text }) => text.trim())),
    [
      ['price', '12', '11'],
      ['list[id="a"].v', 'missing', 'null'],
      [hostile, hostile, 'missing'],
    ],
  );
  t.match(page.text, /Some changes are not shown/);
  t.equal(page.document.querySelectorAll('main script').length, 0);
  await setComparison(ctx, id, { changed: false, changes: [] });
  t.match((await visitor.open(`/executions/${id}`)).text, /No watched value changed\./);
});

t.test('A planned run counts in the strip as its retry, with what that changed', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id, { watch: ['price'] });
  await runDaily(task, ['A']);
  clock.set(new Date(START.getTime() + 24 * HOUR_MS));
  await runAll(ctx, model, failure('TIMEOUT', 'Too slow.', true));
  clock.advance(60_000);
  await runAll(ctx, model, answer('B'));
  t.match((await visit(app, alice).open(`/tasks/${task}`)).text, /1 on time, 1 changed/);
});

t.test('A run is compared with any other run of its task, and with no other', async (t) => {
  const alice = await newAlice();
  const task = await insertTask(ctx, alice.id);
  const [first, second, third] = await runDaily(task, ['Ten bells', 'Nine bells', 'Eight bells']);
  const visitor = visit(app, alice);
  const page = await visitor.open(`/executions/${third}`);
  t.match(page.text, /NineEight bells/);
  const options = page.document.querySelectorAll('[name=against] option');
  t.same(
    options.map((option) => option.text),
    [`Yesterday at 10:00 (run ${second})`, `Fri 20 Nov, 10:00 (run ${first})`],
  );
  const other = await visitor.open(`/executions/${third}?against=${first}`);
  t.match(other.text, /compared with the run of 20 November at 10:00.*TenEight bells/);
  const bob = await signUp(app, { name: 'Bob' });
  const stranger = await insertTask(ctx, bob.id);
  const [strange] = await runDaily(stranger, ['Secret']);
  for (const against of [strange, 0, 'x', 2 ** 31]) {
    t.match(await visitor.open(`/executions/${third}?against=${against}`), { status: 404 }, String(against));
  }
});
