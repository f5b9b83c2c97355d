import { getTexts } from '@carillon/texts';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { nameTask } from '../../src/pages/task-form/first-task.ts';
import { visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const { app } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const { findTask, get } = createReader(app, alice);
const alices = visit(app, alice);

/** The form as it is shown again, which is the one of the empty home page. */
async function openForm() {
  const page = await alices.open('/tasks/new');
  page.document.querySelector('#task-form')?.setAttribute('action', '/tasks/first');
  const shown = await alices.submit(page, 'Save task', { prompt: 'short', at: '07:00' });
  t.match(shown, { status: 422, heading: 'Your first task' });
  return shown;
}

t.test('A first task needs a prompt only, and runs at once', async (t) => {
  const page = await alices.submit(await openForm(), 'Save and try it now', {
    prompt: 'What happened in our field since yesterday? Five lines, the most important first.',
    every: 'weekday',
  });
  const task = await findTask('What happened');
  t.match(task, {
    name: 'What happened in our field since yesterday? Five lines, the',
    recurrencePattern: '0 7 * * 1-5',
    scheduledFor: '2026-11-23T06:00:00.000Z',
  });
  const { executions } = await get(`/api/executions?taskId=${task.id}`);
  t.match(executions, [{ trigger: 'manual' }]);
  t.equal(page.url, `/executions/${executions[0].id}`);
});

t.test('A first task that is only saved waits for its time', async (t) => {
  const prompt = 'Plan seven suppers for the week.';
  for (const [every, pattern, first] of [
    ['day', '30 9 * * *', '2026-11-21T08:30'],
    ['week', '30 9 * * 5', '2026-11-27T08:30'],
    ['month', '30 9 20 * *', '2026-12-20T08:30'],
  ] as const) {
    const page = await alices.submit(await openForm(), 'Save only', { prompt, every, at: '09:30' });
    const task = await findTask('Plan seven suppers');
    t.match(task, { recurrencePattern: pattern, scheduledFor: `${first}:00.000Z` });
    t.equal(page.url, `/tasks/${task.id}`);
    t.same((await get(`/api/executions?taskId=${task.id}`)).executions, []);
  }
});

t.test('A refused first task keeps what was typed', async (t) => {
  const page = await alices.submit(await openForm(), 'Save only', { prompt: 'nine char', every: 'month', at: '' });
  t.equal(page.status, 422);
  t.match([readValue(page, 'prompt'), readValue(page, 'every')], ['nine char', 'month']);
  t.match(page.document.querySelector('#at-error')?.text, /Enter a time/);
});

t.test('A name is made of the first words of a prompt', async (t) => {
  const en = getTexts('en');
  t.equal(nameTask('  Digest of the news.\nMore below.', en), 'Digest of the news');
  t.equal(nameTask('Go', en), 'Task: Go');
  t.equal([...nameTask('😀'.repeat(300), en)].length, 60);
  t.equal(nameTask('...', en), 'Task: ');
});
