import { fillBlanks, findKeys, type Template } from '@carillon/contract/tasks/templates';
import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { assertNeedsSession } from '../support/access.ts';
import { testContext } from '../support/context.ts';
import { signUp, signUpBob } from '../support/people.ts';
import { postTask, TASK } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const [alice, bob] = [await signUp(app, { timezone: 'Europe/Berlin' }), await signUpBob(app)];

const get = async (url: string, person = alice) => app.inject({ url, headers: person.headers });
const listTemplates = async (person = alice): Promise<Template[]> =>
  (await get('/api/templates', person)).json().templates;

/** The body of `create-task` of somebody who gives the examples. */
const fill = ({ blanks, task }: Template) => ({
  ...fillBlanks(task, new Map(blanks.map(({ key, example }) => [key, example]))),
  scheduledFor: TASK.scheduledFor,
});

const ENDS = {
  en: 'If a source is missing, say so first. Invent nothing.',
  'pt-BR': 'Se faltar uma fonte, diga isso primeiro. Não invente nada.',
};

t.test('Each of the sixteen templates is a task once its blanks are filled, in both languages', async (t) => {
  for (const language of ['en', 'pt-BR'] as const) {
    await ctx.db.update(users).set({ language }).where(eq(users.id, alice.id));
    const templates = await listTemplates();
    t.equal(templates.length, 16);
    t.equal(new Set(templates.map(({ id }) => id)).size, 16);
    for (const template of templates) {
      const { id, blanks, task, needs, ...texts } = template;
      t.same(Object.keys(texts).sort(), ['category', 'name', 'purpose'], id);
      t.ok(task.prompt.endsWith(`\n${ENDS[language]}`), `${id} ends with the rule`);
      t.equal(task.timezone, 'Europe/Berlin');
      t.notOk('scheduledFor' in task);
      const keys = blanks.map(({ key }) => key);
      t.same([...findKeys(task)].filter((key) => keys.includes(key)).sort(), keys.toSorted(), `${id} uses its blanks`);
      const { sources = [], tools = [] } = task;
      t.same(
        [...needs].sort(),
        [
          ...(sources.some(({ url }) => url !== undefined) ? ['sources'] : []),
          ...(sources.some(({ search }) => search !== undefined) ? ['search'] : []),
          ...tools,
        ].sort(),
        `${id} says what it needs`,
      );
      const isPossible = needs.every((need) => need === 'sources');
      const created = await app.inject({
        method: 'POST',
        url: '/api/agent/create-task',
        headers: alice.headers,
        payload: { ...fill(template), status: 'paused' },
      });
      t.equal(created.statusCode, isPossible ? 201 : 400, `${id}: ${created.body}`);
      if (!isPossible) t.match(Object.keys(created.json().details), [/^(sources|tools)$/]);
    }
  }
  await ctx.db.update(users).set({ language: 'en' }).where(eq(users.id, alice.id));
});

t.test('The languages of a template differ in texts only', async (t) => {
  const [en, pt] = [await listTemplates(bob), await listPortuguese()];
  t.strictNotSame(en, pt);
  for (const [at, one] of en.entries()) {
    const other = pt[at] as Template;
    t.same([one.id, one.category, one.needs], [other.id, other.category, other.needs]);
    t.same(
      one.blanks.map(({ key }) => key),
      other.blanks.map(({ key }) => key),
    );
    t.same(Object.keys(one.task), Object.keys(other.task), one.id);
    t.same([one.task.recurrencePattern, one.task.runIf], [other.task.recurrencePattern, other.task.runIf]);
    t.equal(one.task.prompt.split('\n').length, other.task.prompt.split('\n').length, one.id);
  }
});

async function listPortuguese() {
  const carla = await signUp(app, { name: 'Carla', timezone: 'America/Sao_Paulo' });
  await app.inject({
    method: 'PATCH',
    url: '/api/user/settings',
    headers: carla.headers,
    payload: { language: 'pt-BR' },
  });
  const templates = await listTemplates(carla);
  t.equal(templates[0]?.task.timezone, 'America/Sao_Paulo');
  t.equal(templates[0]?.name, 'Resumo da manhã');
  return templates;
}

t.test('A blank is replaced once, and encoded within an address', async (t) => {
  const task = {
    name: '[a] [b] [c]',
    sources: [{ url: '[a]' }, { url: 'https://x.example/[a]?q=[b]' }],
    watch: ['[b]'],
  };
  const filled = fillBlanks(
    task,
    new Map([
      ['a', 'o/r'],
      ['b', '[a] & é'],
    ]),
  );
  t.same(filled, {
    name: 'o/r [a] & é [c]',
    sources: [{ url: 'o/r' }, { url: 'https://x.example/o/r?q=%5Ba%5D%20%26%20%C3%A9' }],
    watch: ['[a] & é'],
  });
});

t.test('The template of a task has its settings without addresses, channels, files, secrets and dates', async (t) => {
  const id = await postTask(app, alice, {
    name: 'Weekly',
    description: 'For the team.',
    prompt: 'What is new in [brackets]?',
    recurrence: 'weekly',
    timezone: 'Europe/Lisbon',
    temperature: 20,
    webhookUrl: 'https://hooks.example.com/private',
    notificationEmail: 'alice@example.com',
    endsAt: '2030-01-01T00:00:00Z',
    maxRuns: 9,
    context: { previousResult: true },
  });
  const answer = await get(`/api/tasks/${id}/template`);
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), {
    success: true,
    template: {
      id: `task-${id}`,
      name: 'Weekly',
      purpose: 'For the team.',
      category: 'own',
      needs: [],
      blanks: [],
      task: {
        name: 'Weekly',
        description: 'For the team.',
        prompt: 'What is new in [brackets]?',
        recurrence: 'weekly',
        recurrencePattern: answer.json().template.task.recurrencePattern,
        timezone: 'Europe/Lisbon',
        temperature: 20,
        context: { clock: true, previousResult: true },
        maxRuns: 9,
      },
    },
  });
  t.match(answer.json().template.task.recurrencePattern, /^\d+ \d+ \* \* \d$/, 'the time of the day is kept');
});

t.test('A source that needs a secret, or has one in its address, has a blank', async (t) => {
  const sources = [
    { name: 'open', url: 'https://news.example.com/feed.xml?topic=energy' },
    { name: 'calendar', url: 'https://calendar.example.com/ical/a1b2c3d4e5f6a7b8c9/basic.ics' },
    { name: 'metrics', url: 'https://example.com/metrics?token=abc' },
  ];
  const id = await postTask(app, alice, { prompt: 'What is in [calendar] today?', sources });
  const { template } = (await get(`/api/tasks/${id}/template`)).json();
  t.same(template.task.sources, [
    sources[0],
    { name: 'calendar', url: '[calendar_2]' },
    { name: 'metrics', url: '[metrics]' },
  ]);
  t.same(template.blanks, [
    { key: 'calendar_2', label: 'Address of the source calendar', example: 'https://calendar.example.com/…' },
    { key: 'metrics', label: 'Address of the source metrics', example: 'https://example.com/…' },
  ]);
  t.same(template.needs, ['sources']);
  t.notMatch(JSON.stringify(template), /a1b2c3|abc/);
});

t.test('A template of another user or of no task is not found', async (t) => {
  const id = await postTask(app, alice);
  for (const [person, one] of [
    [bob, id],
    [alice, 2_000_000_000],
  ] as const) {
    const answer = await get(`/api/tasks/${one}/template`, person);
    t.match([answer.statusCode, answer.json()], [404, { success: false, error: 'Task not found' }]);
  }
});

t.test('Templates need a session', async (t) => {
  await assertNeedsSession(t, app, { url: '/api/templates' });
  await assertNeedsSession(t, app, { url: '/api/tasks/1/template' });
});
