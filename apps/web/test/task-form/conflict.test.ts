import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const { app } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const { findTask } = createReader(app, alice);
const alices = visit(app, alice);

const PROMPT = 'What happened since yesterday? Five lines.';

async function addTask(name: string) {
  await alices.submit(await alices.open('/tasks/new'), 'Save task', { name, prompt: PROMPT });
  return findTask(name);
}

t.test('A task that two people edit is overwritten only by one who has seen both versions', async (t) => {
  const { id } = await addTask('Shared');
  const mine = await alices.open(`/tasks/${id}/edit`);
  const theirs = await alices.open(`/tasks/${id}/edit`);
  await alices.submit(theirs, 'Save task', { prompt: 'Say it in one line, please.', at: '09:00' });

  const typed = { name: 'Shared by two', prompt: 'Say it in two lines, please.', temperature: '0.55' };
  const conflict = await alices.submit(mine, 'Save task', typed);
  t.match(conflict, { status: 409, text: /The task was changed/ });
  const rows = conflict.document
    .querySelectorAll('.versions tbody tr')
    .map((row) => row.text.replace(/\s+/g, ' ').trim());
  t.same(rows, [
    'NameShared by twoShared',
    'PromptSay it in two lines, please.Say it in one line, please.',
    'Temperature0.550.70',
    'ScheduleEvery day at 08:00, Europe/Berlin timeEvery day at 09:00, Europe/Berlin time',
  ]);
  for (const [name, value] of Object.entries(typed)) t.equal(readValue(conflict, name), value, `${name} is kept`);
  t.match(await findTask('Shared'), { name: 'Shared', prompt: 'Say it in one line, please.' });

  const taken = conflict.document.querySelectorAll('#task-form a').find(({ text }) => text === 'Use the saved version');
  t.equal(readValue(await alices.open(taken?.getAttribute('href') ?? ''), 'prompt'), 'Say it in one line, please.');

  const saved = await alices.submit(conflict, 'Save my version', { prompt: 'Say it in three lines, please.' });
  t.equal(saved.url, `/tasks/${id}`);
  t.match(await findTask('Shared'), {
    name: 'Shared by two',
    prompt: 'Say it in three lines, please.',
    temperature: 55,
    recurrencePattern: '0 8 * * *',
  });
});

t.test('A version that was overwritten a second time is shown again', async (t) => {
  const { id } = await addTask('Twice');
  const mine = await alices.open(`/tasks/${id}/edit`);
  await alices.submit(await alices.open(`/tasks/${id}/edit`), 'Save task', { description: 'first' });
  const first = await alices.submit(mine, 'Save task', { description: 'mine' });
  await alices.submit(await alices.open(`/tasks/${id}/edit`), 'Save task', { description: 'second' });
  const second = await alices.submit(first, 'Save my version');
  t.match(second, { status: 409, text: /mine\s*second/ });
  await alices.submit(second, 'Save my version');
  t.match(await findTask('Twice'), { description: 'mine' });
});

t.test('A schedule of the API stays as it is while other fields change', async (t) => {
  const schedules = [
    { scheduledFor: '2027-03-01T10:00:37.123Z', recurrence: 'daily' },
    { scheduledFor: '2027-01-30T10:00:00.000Z', recurrence: 'monthly' },
    { scheduledFor: '2027-01-31T10:00:00.000Z', recurrence: 'monthly' },
    { scheduledFor: '2027-01-31T10:00:00.000Z', recurrence: 'once' },
    { scheduledFor: '2027-01-31T10:00:00.000Z', recurrence: 'daily', recurrencePattern: '0 9 * 3 *' },
    { scheduledFor: '2027-01-31T10:00:00.000Z', recurrence: 'daily', recurrencePattern: '00 09 * * MON-FRI' },
  ];
  for (const [index, schedule] of schedules.entries()) {
    const payload = { name: `By the API ${index}`, prompt: PROMPT, timezone: 'America/New_York', ...schedule };
    const created = await app.inject({
      method: 'POST',
      url: '/api/agent/create-task',
      headers: alice.headers,
      payload,
    });
    const { taskId } = created.json();
    const before = await findTask(payload.name);
    const page = await alices.submit(await alices.open(`/tasks/${taskId}/edit`), 'Save task', {
      description: 'changed',
    });
    t.equal(page.url, `/tasks/${taskId}`);
    const { scheduledFor, recurrence, recurrencePattern, timezone, nextExecutionAt } = before;
    const kept = { scheduledFor, recurrence, recurrencePattern, timezone, nextExecutionAt };
    t.match(await findTask(payload.name), { description: 'changed', ...kept }, JSON.stringify(schedule));
  }
});

t.test('The form says that a task is paused', async (t) => {
  const { id } = await addTask('Paused');
  const url = `/api/tasks/${id}`;
  await app.inject({ method: 'PATCH', url, headers: alice.headers, payload: { status: 'paused' } });
  t.match((await alices.open(`/tasks/${id}/edit`)).text, /The task is paused\. These runs happen after you resume it/);
});

t.test('A task that is deleted meanwhile is not found', async (t) => {
  const { id } = await addTask('Deleted');
  const page = await alices.open(`/tasks/${id}/edit`);
  await app.inject({ method: 'DELETE', url: `/api/tasks/${id}`, headers: alice.headers });
  t.match(await alices.submit(page, 'Save task'), { status: 404, heading: 'Page not found' });
});
