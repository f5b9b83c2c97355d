import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { patchTask } from '../../../api/test/support/tasks.ts';
import { type ShownPage, visit } from '../support/visitor.ts';
import { createReader } from './read-form.ts';

const { app } = await testContext(t);
const alice = await signUp(app);
const { get, findTask } = createReader(app, alice);
const alices = visit(app, alice);
const readTask = async (id: number) => (await get(`/api/tasks/${id}`)).task;

const PROMPT = 'What does the bin cost today?';
const readForm = ({ document }: ShownPage) => document.querySelector('[name=answerAs][checked]')?.getAttribute('value');
const readNames = ({ document }: ShownPage) =>
  document.querySelectorAll('[name=fieldName]').map((input) => input.getAttribute('value'));

async function save(name: string, typed: Record<string, string | readonly string[]>) {
  const page = await alices.submit(await alices.open('/tasks/new'), 'Save task', { name, prompt: PROMPT, ...typed });
  return { page, task: await findTask(name) };
}

t.test('A number and a table of fields become a schema, and are shown again', async (t) => {
  const { task: number } = await save('A number', { answerAs: 'number' });
  t.same(number.outputSchema, { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] });
  t.equal(readForm(await alices.open(`/tasks/${number.id}/edit`)), 'number');

  const { task } = await save('A table', {
    answerAs: 'fields',
    fieldName: ['price', ' in stock ', ''],
    fieldKind: ['number', 'boolean', 'list'],
  });
  const schema = {
    type: 'object',
    properties: { price: { type: 'number' }, 'in stock': { type: 'boolean' } },
    required: ['price', 'in stock'],
  };
  t.same(task.outputSchema, schema);
  const edit = await alices.open(`/tasks/${task.id}/edit`);
  t.equal(readForm(edit), 'fields');
  t.same(readNames(edit), ['price', 'in stock', '', '', ''], 'with rows for more');
  t.match(edit.text, /Answer format JSON with price, in stock/);
  await alices.submit(edit, 'Save task');
  t.match(await readTask(task.id), { updatedAt: task.updatedAt, outputSchema: schema }, 'nothing changes');
  await alices.submit(await alices.open(`/tasks/${task.id}/edit`), 'Save task', { answerAs: 'text' });
  t.equal((await readTask(task.id)).outputSchema, null);
});

t.test('A schema that says more than fields stays a schema', async (t) => {
  const { task } = await save('More', { answerAs: 'number' });
  for (const outputSchema of [
    { type: 'object', properties: { a: { type: 'number', minimum: 0 } }, required: ['a'] },
    { type: 'object', properties: { a: { type: 'number' }, b: { type: 'string' } }, required: ['a'] },
    { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false },
    { type: 'object' },
  ]) {
    await patchTask(app, alice, task.id, { outputSchema });
    const edit = await alices.open(`/tasks/${task.id}/edit`);
    t.equal(readForm(edit), 'schema', JSON.stringify(outputSchema));
    await alices.submit(edit, 'Save task', { description: JSON.stringify(outputSchema) });
    t.same((await readTask(task.id)).outputSchema, outputSchema);
  }
});

t.test('A table without fields, or with one twice, is refused at its fields', async (t) => {
  const cases = [
    [{ fieldName: ['', ''], fieldKind: ['text', 'text'] }, /Enter at least one field/],
    [{ fieldName: ['a', 'a'], fieldKind: ['text', 'number'] }, /its own name/],
  ] as const;
  for (const [typed, message] of cases) {
    const { page } = await save('Refused', { answerAs: 'fields', ...typed });
    t.equal(page.status, 422);
    t.match(page.document.querySelector('#fieldName-error')?.text, message);
    t.ok(page.document.querySelector('#answer')?.hasAttribute('open'));
  }
  const hostile = '"><script>alert(1)</script>';
  const { page } = await save('Hostile', {
    answerAs: hostile,
    fieldName: ['__proto__', hostile],
    fieldKind: [hostile, hostile],
  });
  t.match([page.status, page.document.querySelector('#answerAs-error')?.text], [422, /Choose text, number/]);
  t.equal(page.document.querySelectorAll('main script').length, 0);
});
