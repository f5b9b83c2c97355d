import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { postTask } from '../../../api/test/support/tasks.ts';
import { SESSION_STATEMENTS, visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const { app, ctx, clock } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const bob = await signUp(app, { name: 'Bob' });
const { findTask } = createReader(app, alice);
const alices = visit(app, alice);

const PROMPT = 'What happened since yesterday? Five lines.';

t.test('A task needs a name and a prompt; its first run is the next time of its schedule', async (t) => {
  const page = await alices.open('/tasks/new');
  t.match(page, { status: 200, heading: 'New task', text: /Every day at 08:00, Europe\/Berlin time/ });
  const saved = await alices.submit(page, 'Save task', { name: 'Morning news', prompt: PROMPT });
  const task = await findTask('Morning news');
  t.equal(saved.url, `/tasks/${task.id}`);
  t.match(task, {
    prompt: PROMPT,
    recurrence: 'daily',
    recurrencePattern: '0 8 * * *',
    timezone: 'Europe/Berlin',
    maxTokens: 1024,
    temperature: 70,
    description: null,
    scheduledFor: '2026-11-21T07:00:00.000Z',
    nextExecutionAt: '2026-11-21T07:00:00.000Z',
  });
});

t.test('Every way to say when becomes the schedule that it says, until a quota is used up', async (t) => {
  const carol = await signUp(app, { name: 'Carol', timezone: 'Europe/Berlin' });
  const carols = visit(app, carol);
  const { findTask } = createReader(app, carol);
  const cases = [
    [
      { every: 'minute', minutes: '15' },
      { recurrencePattern: '*/15 * * * *', scheduledFor: '2026-11-20T10:15' },
    ],
    [
      { every: 'hour', minute: '5' },
      { recurrencePattern: '5 * * * *', scheduledFor: '2026-11-20T10:05' },
    ],
    [
      { every: 'hour', minute: '30', from: '8', until: '10' },
      { recurrencePattern: '30 8-10 * * *', scheduledFor: '2026-11-21T07:30' },
    ],
    [
      { every: 'week', weekday: ['1', '5'], at: '16:00' },
      { recurrencePattern: '0 16 * * 1,5', scheduledFor: '2026-11-20T15:00' },
    ],
    [
      { every: 'month', day: 'last', at: '09:30' },
      { recurrencePattern: '30 9 L * *', scheduledFor: '2026-11-30T08:30' },
    ],
    [
      { every: 'month', day: '31', at: '09:30' },
      { recurrencePattern: '30 9 31 * *', scheduledFor: '2026-12-31T08:30' },
    ],
    [
      { every: 'month', day: '30+', at: '09:30' },
      { recurrence: 'monthly', recurrencePattern: null, scheduledFor: '2026-11-30T08:30' },
    ],
    [
      { every: 'once', date: '2027-07-01', at: '12:00' },
      { recurrence: 'once', recurrencePattern: null, scheduledFor: '2027-07-01T10:00' },
    ],
    [
      { mode: 'cron', cron: '0  9 1 1,7 *' },
      { recurrence: 'monthly', recurrencePattern: '0 9 1 1,7 *', scheduledFor: '2027-01-01T08:00' },
    ],
    [{ timezone: 'Asia/Tokyo' }, { recurrencePattern: '0 8 * * *', scheduledFor: '2026-11-20T23:00' }],
  ] as const;
  for (const [index, [typed, { scheduledFor, ...wanted }]] of cases.entries()) {
    const name = `Schedule ${index}`;
    const page = await carols.submit(await carols.open('/tasks/new'), 'Save task', { name, prompt: PROMPT, ...typed });
    const task = await findTask(name);
    t.match(task, { ...wanted, scheduledFor: `${scheduledFor}:00.000Z` }, JSON.stringify(typed));
    const edit = await carols.open(`/tasks/${task.id}/edit`);
    await carols.submit(edit, 'Save task');
    t.match(await findTask(name), { updatedAt: task.updatedAt }, 'opened and saved, nothing changes');
    t.equal(page.url, `/tasks/${task.id}`);
  }
  const typed = { name: 'One too many', prompt: PROMPT };
  const refused = await carols.submit(await carols.open('/tasks/new'), 'Save task', typed);
  t.match(refused, {
    status: 402,
    text: /Not saved. You have 10 active tasks, the maximum. Pause or delete one first/,
  });
  t.equal(readValue(refused, 'name'), 'One too many');
});

t.test('Zones are shown by their names of today, and earlier names stay as they are stored', async (t) => {
  const gita = await signUp(app, { name: 'Gita', timezone: 'Asia/Calcutta' });
  const gitas = visit(app, gita);
  const { findTask } = createReader(app, gita);
  const form = await gitas.open('/tasks/new');
  const zones = form.document.querySelectorAll('#timezone option');
  t.equal(zones.filter(({ text }) => text === 'Asia/Kolkata').length, 2, 'the chosen one, and in its region');
  t.equal(zones.filter(({ text }) => /Calcutta|Kiev|Saigon/.test(text)).length, 0);
  t.match(form.text, /Every day at 08:00, Asia\/Kolkata time\./);
  t.match(form.document.querySelector('#runs')?.text, /Kolkata time, now 15:30/);
  const { url } = await gitas.submit(form, 'Save task', { name: 'Kolkata', prompt: PROMPT });
  const task = await findTask('Kolkata');
  t.match(task, { timezone: 'Asia/Calcutta', scheduledFor: '2026-11-21T02:30:00.000Z' });
  await gitas.submit(await gitas.open(`${url}/edit`), 'Save task');
  t.match(await findTask('Kolkata'), { updatedAt: task.updatedAt }, 'opened and saved, nothing changes');
  await gitas.submit(await gitas.open(`${url}/edit`), 'Save task', { timezone: 'Europe/Kyiv' });
  t.match(await findTask('Kolkata'), { timezone: 'Europe/Kyiv', scheduledFor: '2026-11-21T06:00:00.000Z' });
});

/** The earlier time of a day comes first. */
const SORTED = new Map([
  ['20:30', '08:30'],
  ['8', '20'],
]);

t.test('Intervals, two times of a day, weekdays of a month and years are schedules too', async (t) => {
  const dave = await signUp(app, { name: 'Dave', timezone: 'Europe/Berlin' });
  const daves = visit(app, dave);
  const { findTask } = createReader(app, dave);
  const at = (time: string) => `${time}:00.000Z`;
  const cases = [
    [
      { every: 'day', interval: '3', date: '2026-11-22', at: '08:00' },
      { recurrence: 'daily', interval: 3, recurrencePattern: null, scheduledFor: at('2026-11-22T07:00') },
      /Every 3 days at 08:00/,
    ],
    [
      { every: 'week', interval: '2', date: '2026-11-24', at: '08:00' },
      { recurrence: 'weekly', interval: 2, recurrencePattern: null, scheduledFor: at('2026-11-24T07:00') },
      /Tuesdays at 08:00, every 2 weeks/,
    ],
    [
      { every: 'month', interval: '2', date: '2026-11-30', at: '08:00' },
      { recurrence: 'monthly', interval: 2, recurrencePattern: null, scheduledFor: at('2026-11-30T07:00') },
      /30th of every 2nd month, or its last day, at 08:00/,
    ],
    [
      { every: 'day', at: '20:30', again: '8' },
      { recurrencePattern: '30 8,20 * * *', interval: 1 },
      /Every day at 08:30 and 20:30/,
    ],
    [
      { every: 'week', at: '09:00', again: '17' },
      { recurrencePattern: '0 9,17 * * 1-5' },
      /Weekdays at 09:00 and 17:00/,
    ],
    [
      { every: 'month', nth: '1', nthDay: '1', at: '09:00' },
      { recurrencePattern: '0 9 * * 1#1', scheduledFor: at('2026-12-07T08:00') },
      /First Monday of every month at 09:00/,
    ],
    [
      { every: 'month', nth: 'last', nthDay: '5', at: '09:00' },
      { recurrencePattern: '0 9 * * 5L', scheduledFor: at('2026-11-27T08:00') },
      /Last Friday of every month at 09:00/,
    ],
    [
      { every: 'year', date: '2026-12-24', at: '18:00' },
      { recurrencePattern: '0 18 24 12 *', scheduledFor: at('2026-12-24T17:00') },
      /Every year on 24 December at 18:00/,
    ],
  ] as const;
  for (const [index, [typed, wanted, said]] of cases.entries()) {
    const name = `Schedule ${index}`;
    const page = await daves.submit(await daves.open('/tasks/new'), 'Save task', { name, prompt: PROMPT, ...typed });
    t.match(page, { url: /^\/tasks\/\d+$/, text: said }, JSON.stringify(typed));
    const task = await findTask(name);
    t.match(task, wanted, JSON.stringify(typed));
    const edit = await daves.open(`/tasks/${task.id}/edit`);
    for (const [field, value] of Object.entries(typed)) {
      const shown = SORTED.get(value) ?? value;
      t.equal(readValue(edit, field), shown, `${field} of ${name}`);
    }
    await daves.submit(edit, 'Save task');
    t.match(await findTask(name), { updatedAt: task.updatedAt }, 'opened and saved, nothing changes');
  }

  const form = await daves.open('/tasks/new');
  const refusals = [
    [{ every: 'day', interval: '3', date: '2026-11-19' }, 'date', /in the future/],
    [{ every: 'week', interval: '2', date: '' }, 'date', /Enter a date/],
    [{ every: 'day', interval: '100' }, 'interval', /from 1 to 99/],
    [{ every: 'day', again: '24' }, 'again', /hour of the day/],
    [{ every: 'month', nth: '6' }, 'nth', /day of the month/],
    [{ every: 'year', date: '2027-02-30' }, 'date', /Enter a date/],
  ] as const;
  for (const [typed, field, message] of refusals) {
    const page = await daves.submit(form, 'Save task', { name: 'Never saved', prompt: PROMPT, ...typed });
    t.match([page.status, errors(page.document)[field]], [422, message], JSON.stringify(typed));
  }
});

t.test('A refused form keeps what was typed, and says at each field what is wrong', async (t) => {
  const typed = {
    name: 'No',
    description: 'x'.repeat(501),
    prompt: 'short',
    every: 'week',
    weekday: [],
    at: '07:15',
    aiModel: 'two words',
    maxTokens: '0',
    temperature: '2.01',
    webhookUrl: 'ftp://example.com',
    notificationEmail: 'nobody',
  };
  const page = await alices.submit(await alices.open('/tasks/new'), 'Save task', typed);
  t.match(page, { status: 422, heading: 'New task', text: /Not saved/ });
  t.match(errors(page.document), {
    name: 'Name must be at least 3 characters',
    description: 'Description must be at most 500 characters',
    prompt: 'Prompt must be at least 10 characters',
    weekday: 'Choose at least one day of the week',
    aiModel: 'Model must not contain spaces',
    maxTokens: 'Maximum length must be at least 1',
    temperature: 'Temperature: enter a number from 0.00 to 2.00',
    webhookUrl: /^Webhook URL /,
    notificationEmail: /^E-mail address /,
  });
  for (const [name, value] of Object.entries(typed)) {
    if (typeof value === 'string') t.equal(readValue(page, name), value, name);
  }
  const described = page.document.querySelector('[name=prompt]');
  t.match(described?.attributes, { 'aria-invalid': 'true', 'aria-describedby': 'prompt-error' });
  const links = page.document.querySelectorAll('[role=alert] a').map((link) => link.getAttribute('href'));
  for (const link of links) t.ok(page.document.querySelector(link!), `${link} leads to a field`);
});

t.test('A pattern or a first run that cannot be is refused at its field', async (t) => {
  const open = await alices.open('/tasks/new');
  const cases = [
    [{ mode: 'cron', cron: '0 9 * *' }, 'cron', /exactly five fields/],
    [{ mode: 'cron', cron: '0 9 31 2 *' }, 'cron', /never fires/],
    [{ mode: 'cron', cron: '' }, 'cron', /five fields/],
    [{ every: 'once', date: '2026-11-20', at: '10:59' }, 'date', /in the future/],
    [{ every: 'once', date: '', at: '10:59' }, 'date', /Enter a date/],
    [{ at: '' }, 'at', /Enter a time/],
    [{ every: 'hour', from: '9', until: '8' }, 'until', /after the first/],
    [{ timezone: 'Mars/Olympus' }, 'timezone', /Choose a time zone/],
  ] as const;
  for (const [typed, field, message] of cases) {
    const page = await alices.submit(open, 'Save task', { name: 'Never saved', prompt: PROMPT, ...typed });
    t.match(errors(page.document)[field], message, field);
    t.equal(page.status, 422);
  }
  t.equal(await findTask('Never saved'), undefined);
});

t.test('Update shows the next runs and the other form of the schedule, and keeps everything', async (t) => {
  const typed = { name: '', prompt: 'half', every: 'week', weekday: ['1', '2', '3', '4', '5'], at: '02:30' };
  const page = await alices.submit(await alices.open('/tasks/new'), 'Update', typed);
  t.match(page, { status: 200, text: /Weekdays at 02:30, Europe\/Berlin time/ });
  t.equal(readValue(page, 'prompt'), 'half');
  t.equal(readValue(page, 'cron'), '30 2 * * 1-5');
  t.equal(page.document.querySelectorAll('#runs li').length, 8);
  t.match(page.document.querySelector('#runs')?.text, /02:30\s*Mon 23 Nov, next run/);
  const cron = await alices.submit(page, 'Update', { mode: 'cron', cron: '15 6 L * *' });
  t.equal(readValue(cron, 'every'), 'month');
  t.equal(readValue(cron, 'day'), 'last');
  t.equal(readValue(cron, 'at'), '06:15');
  const wordless = await alices.submit(page, 'Update', { mode: 'cron', cron: '0 9 * 3 *' });
  t.match(wordless.text, /This cron expression is valid/);
});

t.test('Another spelling of a pattern keeps the skipped run of a task', async (t) => {
  const bob = await signUp(app, { timezone: 'Europe/Berlin' });
  const id = await postTask(app, bob, { recurrencePattern: '30 2 * * MON-FRI', timezone: 'Europe/Berlin' });
  const { task: skipped } = (
    await app.inject({ method: 'POST', url: `/api/tasks/${id}/skip-next`, headers: bob.headers })
  ).json();
  const bobs = visit(app, bob);
  const saved = await bobs.submit(await bobs.open(`/tasks/${id}/edit`), 'Save task', {
    mode: 'cron',
    cron: '30 02 * * 1-5',
  });
  t.equal(saved.status, 200, saved.text);
  const { task } = (await app.inject({ url: `/api/tasks/${id}`, headers: bob.headers })).json();
  t.match(task, { recurrencePattern: '30 02 * * 1-5', nextExecutionAt: skipped.nextExecutionAt });
});

t.test('The runs say how a pattern combines day of month and weekday', async (t) => {
  const page = await alices.open('/tasks/new');
  const shown = await alices.submit(page, 'Update', { mode: 'cron', cron: '0 9 13 * FRI' });
  t.match(shown.text, /days that match the day of the month or the weekday/);
  const both = await alices.submit(page, 'Update', { mode: 'cron', cron: '0 9 */2 * FRI' });
  t.match(both.text, /days that match both the day of the month and the weekday/);
});

t.test('Changes of clocks and short months are said beside the runs', async (t) => {
  const form = await alices.open('/tasks/new');
  form.document.querySelector('#task-form')?.setAttribute('action', '/tasks/new/runs');
  const runs = async (typed: Record<string, string>) =>
    (await alices.submit(form, 'Update', typed)).document.text.replace(/\s+/g, ' ');
  const zone = { timezone: 'Europe/Berlin' };
  t.match(
    await runs({ ...zone, mode: 'cron', cron: '30 2 28-31 3 *' }),
    /clocks go forward past 02:30 on 28 March 2027, so this runs at 03:30/,
  );
  t.match(await runs({ ...zone, every: 'month', day: '31', at: '09:00' }), /No run in February: no day 31/);
  t.match(
    await runs({ ...zone, every: 'month', day: '30+', at: '09:00' }),
    /February 2027 has no day 30, so this runs on its last day/,
  );
  t.match(
    await runs({ ...zone, every: 'month', day: '1', at: '09:00' }),
    /Thu 1 Apr 2027, first after clocks go forward/,
  );
});

t.test('The form of a stranger, or of no task, is not found', async (t) => {
  const { id } = await findTask('Morning news');
  const bobs = visit(app, bob);
  for (const url of [`/tasks/${id}/edit`, '/tasks/0/edit', '/tasks/x/edit', '/tasks/2147483648/edit']) {
    t.match(await bobs.open(url), { status: 404, heading: 'Page not found' }, url);
  }
  const form = await bobs.open('/tasks/new');
  for (const address of [`/tasks/${id}/edit`, `/tasks/${id}/duplicate`]) {
    form.document.querySelector('#task-form')?.setAttribute('action', address);
    t.match(await bobs.submit(form, 'Save task', { name: 'Taken over', prompt: PROMPT }), { status: 404 }, address);
  }
  t.match(await visit(app).open('/tasks/new'), { heading: 'Sign in' });
});

t.test('Hostile text stays text', async (t) => {
  const hostile = `"><script>alert(1)</script>{{7*7}}javascript:'&lt;\u202e`;
  const name = `${hostile}!`;
  const typed = { name, prompt: `\n${hostile}\n${'x'.repeat(10_000)}`, description: hostile };
  await alices.submit(await alices.open('/tasks/new'), 'Save task', typed);
  const { id } = await findTask('alert(1)');
  const page = await alices.open(`/tasks/${id}/edit`);
  t.equal(page.heading, `Edit ${name}`);
  t.equal(readValue(page, 'prompt'), typed.prompt);
  t.equal(readValue(page, 'description'), hostile);
  const scripts = page.document.querySelectorAll('script');
  t.ok(scripts.every((script) => script.getAttribute('src')?.startsWith('/scripts/')));
});

t.test('A copy is opened for changes', async (t) => {
  const { id } = await findTask('Morning news');
  const form = await alices.open('/tasks/new');
  form.document.querySelector('#task-form')?.setAttribute('action', `/tasks/${id}/duplicate`);
  const page = await alices.submit(form, 'Save task');
  t.match(page, {
    status: 200,
    heading: 'Edit Morning news (copy)',
    url: /^\/tasks\/\d+\/edit$/,
    text: /The task is copied/,
  });
});

t.test('A link proposes a name and a prompt, and nothing else', async (t) => {
  const page = await alices.open('/tasks/new?name=Digest&prompt=Say+what+is+new&webhookUrl=https://evil.example');
  t.equal(readValue(page, 'name'), 'Digest');
  t.equal(readValue(page, 'prompt'), 'Say what is new');
  t.equal(readValue(page, 'webhookUrl'), '');
});

t.test('The form takes the session and two more statements', async (t) => {
  const { id } = await findTask('Morning news');
  for (const url of ['/tasks/new', `/tasks/${id}/edit`]) {
    const statements = countStatements(ctx.db);
    t.equal((await alices.open(url)).status, 200);
    t.ok(statements() <= SESSION_STATEMENTS + 2, url);
  }
  const form = await alices.open('/tasks/new');
  form.document.querySelector('#task-form')?.setAttribute('action', '/tasks/new/runs');
  const statements = countStatements(ctx.db);
  t.match((await alices.submit(form, 'Update')).document.text, /And so on/);
  t.equal(statements(), 2 * SESSION_STATEMENTS, 'the next runs take the session, twice for a form with files');
});

t.test('An interval keeps its rhythm when only its time is changed, and ends with another schedule', async (t) => {
  const erin = await signUp(app, { name: 'Erin', timezone: 'UTC' });
  const erins = visit(app, erin);
  const { findTask } = createReader(app, erin);
  const typed = { name: 'Rhythm', prompt: PROMPT, every: 'day', interval: '3', date: '2026-11-22', at: '08:00' };
  const { url } = await erins.submit(await erins.open('/tasks/new'), 'Save task', typed);
  clock.set('2026-11-24T10:00:00Z');
  const edit = await erins.open(`${url}/edit`);
  t.equal(readValue(edit, 'date'), '2026-11-25', 'the next one');
  await erins.submit(edit, 'Save task', { at: '09:00' });
  t.match(await findTask('Rhythm'), { interval: 3, scheduledFor: '2026-11-25T09:00:00.000Z' });
  await erins.submit(await erins.open(`${url}/edit`), 'Save task', { interval: '1' });
  t.match(await findTask('Rhythm'), { interval: 1, recurrencePattern: '0 9 * * *' });
});

function errors(document: { querySelectorAll(selector: string): { id: string; text: string }[] }) {
  const found = document.querySelectorAll('.error');
  return Object.fromEntries(found.map(({ id, text }) => [id.replace(/-error$/, ''), text.trim()]));
}
