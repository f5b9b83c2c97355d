import { eq } from 'drizzle-orm';
import t from 'tap';
import { tasks } from '../../../../packages/db/src/index.ts';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { exportFile, line } from '../../../api/test/support/task-files.ts';
import { postTask, TASK } from '../../../api/test/support/tasks.ts';
import { visit } from '../support/visitor.ts';

const { app, ctx } = await testContext(t);
const PATH = '/settings/tasks';

t.test('Tasks are downloaded as the API exports them', async (t) => {
  const alice = await signUp(app);
  for (let at = 0; at < 3; at++) await postTask(app, alice, { name: `Task ${at}` });
  const { response } = await visit(app, alice).open(`${PATH}/tasks.yaml`);
  t.match(response.headers, {
    'content-type': /^application\/yaml/,
    'content-disposition': 'attachment; filename="tasks.yaml"',
  });
  t.equal(response.body, await exportFile(app, alice));
});

t.test('An import is previewed before anything changes, and applied from the preview', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const count = () => ctx.db.$count(tasks, eq(tasks.userId, alice.id));
  const page = await visitor.open(PATH);
  t.match(page, { status: 200, heading: 'Import and export' });
  const text = `${line('a', { name: 'One <b>' })}\n${line('b', { name: 'Two' })}`;
  const preview = await visitor.submit(page, 'Preview', { text });
  t.match(preview, { status: 200, heading: 'Preview of the import', text: /2 tasks to create/ });
  t.match(preview.text, /One <b>/);
  t.equal(await count(), 0, 'nothing has changed');
  const done = await visitor.submit(preview, 'Apply');
  t.match(done, { heading: 'Tasks', text: /Imported: 2 created, 0 changed, 0 deleted/ });
  t.equal(await count(), 2);
  const same = await visitor.submit(await visitor.open(PATH), 'Preview', { text });
  t.match(same.text, /All tasks are as the file says/);
  t.notMatch(same.text, /Apply/);
  const pruned = await visitor.submit(await visitor.open(PATH), 'Preview', {
    text: line('b', { name: 'Two' }),
    prune: 'on',
  });
  t.match(pruned.text, /1 task to delete/);
  t.match(await visitor.submit(pruned, 'Apply'), { text: /1 deleted/ });
  t.equal(await count(), 1);
});

t.test('What is wrong is said with line and field, and the text stays in the form', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const text = `- name: x\n  prompt: ${TASK.prompt}\n  scheduledFor: soon\n  recurrence: daily\n  timezone: UTC\n`;
  const refused = await visitor.submit(await visitor.open(PATH), 'Preview', { text });
  t.match(refused, { status: 422, text: /2 problems in the file: nothing was changed/ });
  const cells = refused.document
    .querySelectorAll('tbody tr')
    .map((row) => row.childNodes.map((cell) => cell.text.trim()));
  t.match(cells, [
    ['Line 1 name', 'must be at least 3 characters'],
    ['Line 3 scheduledFor', /ISO 8601/],
  ]);
  t.match(refused.document.querySelector('textarea')?.text, /scheduledFor: soon/);
  const empty = await visitor.submit(await visitor.open(PATH), 'Preview', { text: ' ' });
  t.match(empty.document.querySelector('#file-error')?.text, /Choose a file, or paste its text/);
  const active = Array.from({ length: 11 }, (_, at) => line(`t${at}`, { status: 'active' })).join('\n');
  t.match(await visitor.submit(await visitor.open(PATH), 'Preview', { text: active }), {
    status: 402,
    text: /You have 10 active tasks, the maximum/,
  });
});
