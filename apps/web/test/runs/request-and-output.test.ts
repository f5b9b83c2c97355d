import { eq } from 'drizzle-orm';
import t from 'tap';
import { executions } from '../../../../packages/db/src/index.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { insertTask, readRuns } from '../../../api/test/support/task-rows.ts';
import { patchTask } from '../../../api/test/support/tasks.ts';
import { answer, createModel, runAll } from '../support/runs.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';

const model = createModel();
const { app, ctx } = await testContext(t, { ai: model.ai });
const alice = await signUp(app, { name: 'Alice', timezone: 'Europe/Berlin' });
const alices = visit(app, alice);
const HOSTILE = '"><script>alert(1)</script>{{7*7}}';

/** A run that has ended, with these values. */
async function insertRun(values: Partial<typeof executions.$inferInsert>) {
  const taskId = await insertTask(ctx, alice.id, { name: 'Bin price', prompt: 'As stored.' });
  await runAll(ctx, model, answer(values.result ?? 'Quiet.'));
  const { id } = (await readRuns(ctx, taskId)).at(-1)!;
  await ctx.db.update(executions).set(values).where(eq(executions.id, id));
  return { id, taskId };
}

const insertOutput = (output: object) => insertRun({ output, result: JSON.stringify(output) });
const readOutput = async (output: object) => {
  const { id } = await insertOutput(output);
  const { document } = await alices.open(`/executions/${id}`);
  return document.querySelector('#answer')!.closest('section')!;
};

t.test('A run shows what was sent to the model, whatever becomes of the task', async (t) => {
  const request = { system: 'It is Tuesday.', prompt: `What is new?\n${HOSTILE}`, model: 'small' };
  const { id, taskId } = await insertRun({ request });
  await patchTask(app, alice, taskId, { prompt: 'Something else entirely.' });
  const statements = countStatements(ctx.db);
  const page = await alices.open(`/executions/${id}`);
  t.equal(statements(), SESSION_STATEMENTS + 3, 'session, run and deliveries, and that it is seen');
  t.match(page.text, /Request ?System message and prompt, sent to small/);
  t.same(
    page.document.querySelectorAll('#request pre').map(({ text }) => text),
    [request.system, request.prompt],
  );
  t.notMatch(page.text, /Something else entirely/);
  t.equal(page.document.querySelectorAll('main script').length, 0);
  const text = (await alices.open(`/executions/${id}/text`)).response.body;
  t.match(text, `SYSTEM MESSAGE\n${request.system}\n\nPROMPT\n${request.prompt}\n`);
});

t.test('A request without a system message shows the prompt alone', async (t) => {
  const { id } = await insertRun({ request: { system: null, prompt: 'What is new?', model: 'small' } });
  const page = await alices.open(`/executions/${id}`);
  t.match(page.text, /Request ?Prompt, sent to small/);
  t.same(
    page.document.querySelectorAll('#request h3').map(({ text }) => text),
    ['Prompt'],
  );
});

t.test('The values of an output stand beside their names, on the page of the run and of the task', async (t) => {
  const output = { price: 59.9, currency: 'EUR', inStock: true, note: null, tags: ['bin', 'garden'], none: [] };
  const { id, taskId } = await insertOutput(output);
  for (const path of [`/executions/${id}`, `/tasks/${taskId}`]) {
    const { document } = await alices.open(path);
    const pairs = document.querySelector('dl.output')!.children.map(({ text }) => text.trim());
    const expected = [
      'price',
      '59.9',
      'currency',
      'EUR',
      'inStock',
      'yes',
      'note',
      'null',
      'tags',
      'bingarden',
      'none',
      'none',
    ];
    t.same(pairs, expected, path);
  }
  t.match((await alices.open(`/executions/${id}/text`)).response.body, `ANSWER\n${JSON.stringify(output)}`);
});

t.test('A list of objects is a table, and what fits into none is JSON', async (t) => {
  const releases = [
    { version: '1.2', downloads: 3 },
    { version: '1.3', downloads: 14, isBeta: true },
  ];
  const table = (await readOutput({ releases })).querySelector('table')!;
  t.same(
    table.querySelectorAll('tr').map((row) => row.childNodes.map(({ text }) => text)),
    [
      ['version', 'downloads', 'isBeta'],
      ['1.2', '3', ''],
      ['1.3', '14', 'yes'],
    ],
  );
  const deep = await readOutput({ found: { by: { name: 'Ada' } } });
  t.equal(deep.querySelector('pre')?.text, JSON.stringify({ by: { name: 'Ada' } }, null, 2));
  const long = await readOutput({ text: 'x'.repeat(30_000) });
  t.equal(long.querySelector('pre')?.text.length, 20_002);
  t.equal((await readOutput({})).querySelector('pre')?.text, '{}');
});

t.test('Lists say the first values of an output, also where their text is cut', async (t) => {
  await insertOutput({ price: 59.9, note: 'a "b"\nc', isNew: null, offers: [{ shop: 'x' }] });
  await insertOutput({ text: 'y'.repeat(400) });
  await insertRun({ result: '{"' });
  const { document } = await alices.open('/executions');
  const answers = document.querySelectorAll('tbody td.whole .line').map(({ text }) => text);
  t.match(answers, ['{"', /^text y+…$/, 'price 59.9 · note a "b" c · isNew null']);
});

t.test('Names and values of an output stay text', async (t) => {
  const rows = [{ [HOSTILE]: HOSTILE, toString: 'own' }];
  const section = await readOutput({ [HOSTILE]: HOSTILE, rows, constructor: 'x', deep: [[HOSTILE]] });
  t.equal(section.querySelectorAll('script').length, 0);
  t.equal(section.querySelector('dt')?.text, HOSTILE);
  t.match(section.querySelector('table')?.text, HOSTILE);
});

t.test("What was sent, and the output, of a stranger's run are not found", async (t) => {
  const { id } = await insertOutput({ price: 1 });
  const bob = visit(app, await signUp(app, { name: 'Bob' }));
  for (const path of [`/executions/${id}`, `/executions/${id}/text`]) {
    t.match(await bob.open(path), { status: 404, heading: 'Page not found' });
  }
});
