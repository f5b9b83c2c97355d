import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { patchTask, postTask } from '../../../api/test/support/tasks.ts';
import { type ShownPage, visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const { app } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const { get, findTask } = createReader(app, alice);
const alices = visit(app, alice);
const readTask = async (id: number) => (await get(`/api/tasks/${id}`)).task;

const PROMPT = 'What does the bin cost today?';
const SCHEMA = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };

const readChoice = ({ document }: ShownPage, name: string) =>
  document.querySelector(`[name="${name}"][checked]`)?.getAttribute('value');
const readError = ({ document }: ShownPage, field: string) => document.querySelector(`#${field}-error`)?.text.trim();
const openGroups = ({ document }: ShownPage) =>
  document.querySelectorAll('.groups > details[open]').map(({ id }) => id);

const EVERYTHING = {
  clock: [],
  previousResult: 'on',
  answerAs: 'schema',
  outputSchema: JSON.stringify(SCHEMA),
  notify: 'change',
  watch: ' price \n\nreleases[].date',
  alerts: 'own',
  overdueMinutes: '30',
  failuresInRow: '',
  costAboveUsd: '0,5',
  durationAboveMs: '1.5',
  missed: 'none',
  overlap: 'queue',
  maxRetries: '1',
  timeoutMs: '90',
  endsAt: '2027-03-28T02:30',
  pausedUntil: '2026-11-25T08:00',
  maxRuns: '20',
  monthlyBudgetUsd: '4.5',
};

t.test('A new task has the defaults of the API, and its groups of settings are closed', async (t) => {
  const page = await alices.open('/tasks/new');
  t.same(openGroups(page), []);
  t.match(page.text, /Context date and time.*Answer format free text/);
  await alices.submit(page, 'Save task', { name: 'By default', prompt: PROMPT });
  const { id } = await findTask('By default');
  const bare = await postTask(app, alice);
  const fields = ['context', 'outputSchema', 'notify', 'watch', 'alerts', 'missed', 'overlap', 'maxRetries', 'endsAt'];
  const [mine, apis] = [await readTask(id), await readTask(bare)];
  for (const field of [...fields, 'maxRuns', 'pausedUntil', 'timeoutMs', 'monthlyBudgetUsd']) {
    t.same(mine[field], apis[field], field);
  }
});

t.test('Every setting is stored as it is typed, shown again, and kept when nothing is changed', async (t) => {
  const page = await alices.open('/tasks/new');
  const saved = await alices.submit(page, 'Save task', { name: 'Bin price', prompt: PROMPT, ...EVERYTHING });
  const { id } = await findTask('Bin price');
  t.equal(saved.url, `/tasks/${id}`);
  const task = await readTask(id);
  t.match(task, {
    context: { clock: false, previousResult: true },
    outputSchema: SCHEMA,
    notify: 'change',
    watch: ['price', 'releases[].date'],
    alerts: { overdueMinutes: 30, costAboveUsd: 0.5, durationAboveMs: 1500 },
    missed: 'none',
    overlap: 'queue',
    maxRetries: 1,
    timeoutMs: 90_000,
    endsAt: '2027-03-28T01:30:00.000Z',
    pausedUntil: '2026-11-25T07:00:00.000Z',
    maxRuns: 20,
    monthlyBudgetUsd: 4.5,
  });
  const edit = await alices.open(`/tasks/${id}/edit`);
  t.same(openGroups(edit), []);
  t.match(
    edit.text,
    /Notifications .*only for changes of price.*Answer format.*price.*Limits.*Maximum runs: 20 · Monthly budget: \$4\.50/,
  );
  t.equal(readChoice(edit, 'notify'), 'change');
  t.equal(readChoice(edit, 'alerts'), 'own');
  t.equal(readValue(edit, 'endsAt'), '2027-03-28T03:30', 'an hour that clocks skip is as much later');
  t.equal(readValue(edit, 'watch'), 'price\nreleases[].date');
  await alices.submit(edit, 'Save task');
  t.match(await readTask(id), { updatedAt: task.updatedAt });
});

t.test('Stored values that are finer than the fields stay until their field is changed', async (t) => {
  const id = await postTask(app, alice, { name: 'Fine' });
  const fine = { endsAt: '2027-01-01T00:00:59.999Z', timeoutMs: 1001, alerts: {}, monthlyBudgetUsd: 0.1234567891 };
  await patchTask(app, alice, id, fine);
  const edit = await alices.open(`/tasks/${id}/edit`);
  await alices.submit(edit, 'Save task', { description: 'changed' });
  t.match(await readTask(id), { ...fine, description: 'changed' });
  await alices.submit(await alices.open(`/tasks/${id}/edit`), 'Save task', {
    endsAt: '2027-01-01T00:01',
    timeoutMs: '2',
  });
  t.match(await readTask(id), { endsAt: '2027-01-01T00:01:00.000Z', timeoutMs: 2000, monthlyBudgetUsd: 0.1234567891 });
});

t.test('A setting that cannot be is refused at its field, in an open group, with what was typed', async (t) => {
  const open = await alices.open('/tasks/new');
  const cases = [
    ['outputSchema', '{"type": "object",}', /Invalid JSON at line 1, column 19/, 'answer'],
    ['outputSchema', '[1]', /The schema must be a JSON object/, 'answer'],
    ['outputSchema', '{', /Invalid JSON/, 'answer'],
    ['watch', `price\n${'x'.repeat(201)}`, /Line 2 of the watched values must be at most 200 characters/, 'tell'],
    ['watch', Array(21).fill('price').join('\n'), /Watched values must have at most 20 items/, 'tell'],
    ['maxRuns', '0', /Maximum runs must be at least 1/, 'limits'],
    ['maxRuns', 'ten', /Maximum runs: enter a whole number/, 'limits'],
    ['endsAt', '2027-02-30T08:00', /End: enter a date and a time/, 'limits'],
    ['timeoutMs', '0.5', /Time limit must be at least 1 s$/, 'faults'],
    ['monthlyBudgetUsd', '-1', /Monthly budget: enter a number/, 'limits'],
    ['notify', 'often', /Notifications must be one of always, change, failure/, 'tell'],
    ['overlap', '', /Overlapping runs must be one of skip, queue, cancel/, 'faults'],
    ['maxRetries', '4', /Choose the number of retries/, 'faults'],
  ] as const;
  for (const [field, value, message, group] of cases) {
    const typed = {
      name: 'Never saved',
      prompt: PROMPT,
      answerAs: 'schema',
      outputSchema: '{"type": "object"}',
      [field]: value,
    };
    const page = await alices.submit(open, 'Save task', typed);
    t.equal(page.status, 422, `${field} ${value}`);
    t.match(readError(page, field), message, `${field} ${value}`);
    t.same(openGroups(page).includes(group), true, `${field} ${value}`);
    const control = page.document.querySelector(`#${field}`);
    t.match(control?.getAttribute('aria-describedby'), `${field}-error`, field);
    if (control?.tagName !== 'FIELDSET') t.equal(readValue(page, field), value);
  }
  t.equal(await findTask('Never saved'), undefined);
});

t.test('Own rules of alerts need at least one, and each is refused at its field', async (t) => {
  const open = await alices.open('/tasks/new');
  const submit = (rules: Record<string, string>) => {
    const typed = { overdueMinutes: '', failuresInRow: '', ...rules };
    return alices.submit(open, 'Save task', { name: 'Rules', prompt: PROMPT, alerts: 'own', ...typed });
  };
  t.match(readError(await submit({}), 'alerts'), /Enter at least one rule/);
  const over = await submit({
    overdueMinutes: '10081',
    durationAboveMs: '86401',
    failuresInRow: '101',
    costAboveUsd: 'x',
  });
  t.match(readError(over, 'overdueMinutes'), /at most 10080/);
  t.match(readError(over, 'durationAboveMs'), /at most 86400 s$/);
  t.match(readError(over, 'failuresInRow'), /at most 100/);
  t.match(readError(over, 'costAboveUsd'), /enter a number/);
  await submit({ failuresInRow: '1' });
  t.same((await findTask('Rules')).alerts, { failuresInRow: 1 });
});

t.test('A form that was opened before these settings came leaves them as they are', async (t) => {
  const id = await postTask(app, alice, { name: 'Old form', notify: 'failure', maxRuns: 7 });
  const page = await alices.open(`/tasks/${id}/edit`);
  const later = ['tell', 'knows', 'web', 'answer', 'faults', 'limits'];
  for (const group of later) page.document.querySelector(`#${group}`)?.remove();
  await alices.submit(page, 'Save task', { description: 'changed' });
  t.match(await readTask(id), { description: 'changed', notify: 'failure', maxRuns: 7, context: { clock: true } });
});

t.test('The next runs follow the end, the number of runs and the pause, also while they are typed', async (t) => {
  const limits = { pausedUntil: '2026-11-25T08:00', maxRuns: '2', endsAt: '' };
  const page = await alices.submit(await alices.open('/tasks/new'), 'Update', limits);
  const runs = page.document.querySelector('#runs')!;
  t.equal(runs.querySelectorAll('li').length, 2);
  t.match(
    runs.text,
    /Wed 25 Nov.*The task is paused until 25 November 2026 at 08:00\..*Thu 26 Nov.*last of 2.*No runs after this/s,
  );
  const fragment = await alices.open('/tasks/new');
  fragment.document.querySelector('#task-form')?.setAttribute('action', '/tasks/new/runs');
  fragment.document.querySelector('#limits')?.insertAdjacentHTML('beforeend', '<input name="plannedRuns">');
  const follow = async (typed: Record<string, string>) =>
    (await alices.submit(fragment, 'Update', typed)).document.text;
  t.match(await follow({ maxRuns: '5', plannedRuns: '4' }), /Sat 21 Nov.*last of 5.*No runs after this/s);
  t.match(await follow({ endsAt: '2026-11-21T08:00' }), /End must be after the next run\./);
  t.match(await follow({ endsAt: 'never', maxRuns: '"><b>' }), /Sat 21 Nov.*And so on/s);
});

t.test('A pause moves the runs of a new task, and not its first planned time', async (t) => {
  const typed = { name: 'Later', prompt: PROMPT, pausedUntil: '2026-11-25T12:00' };
  await alices.submit(await alices.open('/tasks/new'), 'Save task', typed);
  const { id } = await findTask('Later');
  t.match(await readTask(id), {
    scheduledFor: '2026-11-21T07:00:00.000Z',
    nextExecutionAt: '2026-11-26T07:00:00.000Z',
  });
});

t.test('Limits that leave no run are refused at their field', async (t) => {
  const cases = [
    ['endsAt', '2026-11-20T23:00', /End must be after the next run/],
    ['endsAt', '2026-11-20T10:00', /End must be/],
    ['pausedUntil', '2026-11-20T10:00', /Pause must be in the future/],
  ] as const;
  for (const [field, value, message] of cases) {
    const typed = { name: 'No run', prompt: PROMPT, [field]: value };
    const page = await alices.submit(await alices.open('/tasks/new'), 'Save task', typed);
    t.equal(page.status, 422, `${field} ${value}`);
    t.match(readError(page, field), message, `${field} ${value}`);
  }
  t.equal(await findTask('No run'), undefined);
});

t.test('Two versions of a task name the settings in which they differ', async (t) => {
  const id = await postTask(app, alice, { name: 'Two', timezone: 'Europe/Berlin' });
  const mine = await alices.open(`/tasks/${id}/edit`);
  await patchTask(app, alice, id, { notify: 'change', watch: ['price'], maxRuns: 3 });
  const conflict = await alices.submit(mine, 'Save task', {
    overlap: 'cancel',
    answerAs: 'schema',
    outputSchema: JSON.stringify(SCHEMA),
  });
  t.equal(conflict.status, 409);
  const rows = conflict.document
    .querySelectorAll('.versions tbody tr')
    .map((row) => row.text.replace(/\s+/g, ' ').trim());
  t.match(rows, [
    /^JSON schema\{"type".*empty$/,
    'Overlapping runsstop the previous rundefault',
    'Notificationsdefaultonly for changes of price',
    'Maximum runsdefault3',
  ]);
});

t.test('Hostile text in the settings stays text', async (t) => {
  const hostile = `"></textarea><script>alert(1)</script>{{7*7}}\u202e`;
  const schema = { type: 'object', properties: { [hostile]: { type: 'string' } } };
  const typed = { answerAs: 'schema', outputSchema: JSON.stringify(schema), notify: 'change' };
  const page = await alices.submit(await alices.open('/tasks/new'), 'Save task', {
    name: 'Hostile',
    prompt: PROMPT,
    ...typed,
  });
  t.match(page, { status: 200, heading: 'Hostile' });
  const { id, outputSchema } = await findTask('Hostile');
  t.same(outputSchema, schema);
  const edit = await alices.open(`/tasks/${id}/edit`);
  for (const shown of [page, edit]) t.equal(shown.document.querySelectorAll('main script').length, 0);
  const wrong = `{"${hostile}`;
  const refused = await alices.submit(edit, 'Save task', {
    outputSchema: wrong,
    watch: hostile,
    maxRuns: hostile,
    endsAt: hostile,
  });
  t.equal(refused.status, 422);
  t.equal(readValue(refused, 'outputSchema'), wrong);
  t.equal(readValue(refused, 'watch'), hostile);
  t.equal(refused.document.querySelectorAll('main script').length, 0);
});
