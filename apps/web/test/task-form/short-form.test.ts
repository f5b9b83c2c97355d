import { getTexts } from '@carillon/texts';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp, signUpAda } from '../../../api/test/support/people.ts';
import { nameTask } from '../../src/pages/task-form/name-task.ts';
import { visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const { app } = await testContext(t);

/** A person without a task, whose home is the form. */
async function begin(name: string) {
  const person = await signUp(app, { name, timezone: 'Europe/Berlin' });
  const visitor = visit(app, person);
  return { visitor, home: await visitor.open('/'), ...createReader(app, person) };
}

t.test('A first task needs a prompt only, and runs at once', async (t) => {
  const { visitor, home, findTask, get } = await begin('Alice');
  const page = await visitor.submit(home, 'Save and try it now', {
    prompt: 'What happened in our field since yesterday? Five lines, the most important first.',
    every: 'week',
  });
  const task = await findTask('What happened');
  t.match(task, {
    name: 'What happened in our field since yesterday? Five lines, the…',
    recurrencePattern: '0 8 * * 1-5',
    timezone: 'Europe/Berlin',
    maxTokens: 1024,
    notify: 'always',
  });
  const { executions } = await get(`/api/executions?taskId=${task.id}`);
  t.match(executions, [{ trigger: 'manual' }]);
  t.equal(page.url, `/executions/${executions[0].id}`);
});

t.test('A first task that is only saved waits for its time', async (t) => {
  const { visitor, home, findTask, get } = await begin('Carol');
  const page = await visitor.submit(home, 'Save only', { prompt: 'Plan seven suppers for the week.', at: '09:30' });
  const task = await findTask('Plan seven suppers');
  t.match(task, { name: 'Plan seven suppers for the week', recurrencePattern: '30 9 * * *' });
  t.equal(page.url, `/tasks/${task.id}`);
  t.same((await get(`/api/executions?taskId=${task.id}`)).executions, []);
});

t.test('What is refused, or needs more settings, is shown in the whole form', async (t) => {
  const { visitor, home } = await begin('Dave');
  const refused = await visitor.submit(home, 'Save only', { prompt: 'nine char', every: 'month', at: '' });
  t.match(refused, { status: 422, heading: 'New task' });
  t.match([readValue(refused, 'prompt'), readValue(refused, 'every')], ['nine char', 'month']);
  t.match(refused.document.querySelector('#at-error')?.text, /Enter a time/);
  t.ok(refused.document.querySelector('[role=alert][autofocus][tabindex="-1"]'), 'the list of errors gets the focus');
  const whole = await visitor.submit(home, 'All settings', { prompt: 'Plan the week.', every: 'month' });
  t.match(whole, { status: 200, heading: 'New task' });
  t.match([readValue(whole, 'prompt'), readValue(whole, 'every')], ['Plan the week.', 'month']);
});

t.test('That no provider is set is said before a prompt is written, with a link for admins', async (t) => {
  const { home, visitor } = await begin('Erin');
  for (const page of [home, await visitor.open('/tasks/new')]) {
    t.match(page.text, /No AI provider is set up\. .*An administrator can set one up\..*Prompt/);
    t.equal(page.document.querySelector('main a[href="/admin/providers"]'), null);
  }
  const ada = await signUpAda(app);
  const admins = await visit(app, ada).open('/');
  t.equal(admins.document.querySelector('main a[href="/admin/providers"]')?.text, 'Set up a provider');
});

t.test('A task without a name has the first words of its prompt', async (t) => {
  const en = getTexts('en');
  t.equal(nameTask('  Digest of the news.\nMore below.', en), 'Digest of the news');
  t.equal(nameTask('Go', en), 'Task: Go');
  t.equal(nameTask(`${'word '.repeat(12)}more`, en), `${'word '.repeat(12).trim()}…`);
  t.equal(nameTask('😀'.repeat(300), en), `${'😀'.repeat(59)}…`);
  t.equal(nameTask('...', en), 'Task: ');
  const { visitor, findTask } = await begin('Frank');
  const form = await visitor.open('/tasks/new');
  t.notOk(form.document.querySelector('#name')?.hasAttribute('required'));
  await visitor.submit(form, 'Save task', { prompt: 'Which ports are open on my server today?' });
  t.equal((await findTask('Which ports'))?.name, 'Which ports are open on my server today');
});
