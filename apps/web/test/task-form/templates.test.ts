import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { postTask } from '../../../api/test/support/tasks.ts';
import { visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const { app } = await testContext(t);

async function begin(name: string) {
  const person = await signUp(app, { name, timezone: 'Europe/Berlin' });
  return { person, visitor: visit(app, person), ...createReader(app, person) };
}

const START = 'Save and try it now';

t.test('The page has all templates by category, with what this service lacks for them', async (t) => {
  const { visitor } = await begin('Alice');
  const page = await visitor.open('/templates');
  t.match(page, { status: 200, heading: 'Templates' });
  t.same(
    page.document
      .querySelectorAll('main section')
      .map((one) => [one.querySelector('h2')?.text, one.querySelectorAll('.template').length]),
    [
      ['News', 2],
      ['Every day', 4],
      ['Buying', 2],
      ['Work', 5],
      ['Servers', 3],
      ['From a file', 0],
    ],
  );
  const lacks = page.document.querySelectorAll('.template').filter((card) => card.querySelector('.lacks'));
  t.same(
    lacks.map((card) => [card.querySelector('b')?.text, card.querySelector('.lacks')?.text]),
    [
      ['What is on', 'Works in part: the AI provider has no web search.'],
      ['Competitors', 'Works in part: this server has no search engine.'],
    ],
  );
});

t.test('The home of a person without a task has four of them', async (t) => {
  const { visitor } = await begin('Bea');
  const home = await visitor.open('/');
  t.same(
    home.document.querySelectorAll('.template b').map(({ text }) => text),
    ['Morning brief', 'Frost and storm', 'Price and stock', 'Releases of what I run'],
  );
  t.match(await visitor.follow(home, 'All 16 templates'), { status: 200, heading: 'Templates' });
});

t.test('The blanks of a template are asked for, and replaced when the task is saved', async (t) => {
  const { visitor, get, findTask } = await begin('Carol');
  const form = await visitor.open('/tasks/new?template=new-papers');
  t.match(form, { status: 200, heading: 'New task' });
  t.match(
    form.text.slice(0, 2000),
    /Topic, as authors write it in English ?For example: retrieval augmented generation/,
  );
  t.match(readValue(form, 'prompt'), /Below are new arXiv papers on \[topic\]/);
  t.equal((await get('/api/tasks')).tasks.length, 0, 'nothing is saved');

  const refused = await visitor.submit(form, START, { 'blank-topic': 'graph & code' });
  t.equal(refused.status, 422);
  t.match(
    refused.document.querySelector('[role=alert] a[href="#blank-question"]')?.text,
    /Fill in “What do you want to learn\?”/,
  );
  t.equal(readValue(refused, 'blank-topic'), 'graph & code');
  t.match(readValue(refused, 'prompt'), /\[topic\]/);

  const saved = await visitor.submit(refused, START, { 'blank-question': 'what is [topic] for' });
  t.match(saved.url, /^\/executions\/\d+$/);
  const { id } = await findTask('New papers');
  const { task } = await get(`/api/tasks/${id}`);
  t.match(task, {
    name: 'New papers: graph & code',
    prompt: /on graph & code\. Choose .* question: what is \[topic\] for\./,
    recurrencePattern: '0 8 * * 1-5',
    timezone: 'Europe/Berlin',
    runIf: 'changed',
    temperature: 20,
    sources: [{ name: 'arxiv', url: /search_query=all:%22graph%20%26%20code%22&sortBy/ }],
  });
});

t.test('A blank that the prompt has no more need not be filled in', async (t) => {
  const { visitor, findTask, get } = await begin('Dora');
  const form = await visitor.open('/tasks/new?template=morning-brief');
  await visitor.submit(form, 'Save task', { prompt: 'Write my morning brief from the feeds.' });
  const { id } = await findTask('Morning brief');
  t.match((await get(`/api/tasks/${id}`)).task, { prompt: 'Write my morning brief from the feeds.' });
});

t.test('What this service lacks is left out of the form, which says so', async (t) => {
  const { visitor, findTask, get } = await begin('Emil');
  const form = await visitor.open('/tasks/new?template=competitors');
  t.match(form.text.slice(0, 2000), 'A part of this template is left out: this server has no search engine.');
  const blanks = {
    company: 'Acme',
    news_page: 'https://acme.example/news',
    pricing_page: 'https://acme.example/prices',
  };
  const values = Object.fromEntries(
    Object.entries({ ...blanks, product: 'x' }).map(([key, value]) => [`blank-${key}`, value]),
  );
  const saved = await visitor.submit(form, 'Save task', values);
  t.match(saved.url, /^\/tasks\/\d+$/, saved.document.querySelector('[role=alert]')?.text ?? '');
  const { id } = await findTask('Competitor: Acme');
  t.match((await get(`/api/tasks/${id}`)).task, {
    sources: [{ url: 'https://acme.example/news' }, { url: 'https://acme.example/prices' }],
    notify: 'news',
    context: { previousResult: true },
  });
  const without = await visitor.open('/tasks/new?template=whats-on');
  t.match(without.text, 'the AI provider has no web search');
});

t.test('A trial and the preview of the prompt have the blanks filled in', async (t) => {
  const { visitor } = await begin('Fay');
  const form = await visitor.open('/tasks/new?template=a-little-every-day');
  t.equal((await visitor.submit(form, 'Try it now', { 'blank-subject': 'chess' })).status, 422);
  const values = { 'blank-subject': 'chess', 'blank-level': 'the moves' };
  const preview = await visitor.submit(form, 'Preview the prompt', values);
  t.match(preview.document.querySelector('#sent-prompt + pre')?.text, /Teach me chess, .* I knew: the moves\./);
});

t.test('An unknown template is not found', async (t) => {
  const { visitor } = await begin('Gus');
  t.equal((await visitor.open('/tasks/new?template=nothing')).status, 404);
});

t.test('A task is saved as a template, and opened from its text in another account', async (t) => {
  const { visitor, person } = await begin('Hal');
  const id = await postTask(app, person, {
    name: 'Shared <b>',
    prompt: 'What does the calendar say today?',
    recurrence: 'weekly',
    sources: [{ name: 'calendar', url: 'https://calendar.example.com/ical/a1b2c3d4e5f6a7b8c9/x.ics' }],
    notificationEmail: 'hal@example.com',
  });
  const page = await visitor.open(`/tasks/${id}`);
  const file = await visitor.follow(page, 'Save as template');
  t.match(file.response.headers, {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="carillon-template-${id}.json"`,
  });
  const text = file.response.body;
  t.notMatch(text, /hal@|a1b2c3/);

  const { visitor: other, findTask, get } = await begin('Ida');
  const list = await other.open('/templates');
  for (const given of [text, JSON.stringify({ success: true, template: JSON.parse(text) })]) {
    const form = await other.submit(list, 'Open in the form', { text: given });
    t.match(form, { status: 200, heading: 'New task' });
    t.match(form.text.slice(0, 2000), 'Address of the source calendar');
    const saved = await other.submit(form, 'Save task', { 'blank-calendar': 'https://example.com/mine.ics' });
    t.match(saved.url, /^\/tasks\/\d+$/, saved.document.querySelector('[role=alert]')?.text ?? '');
  }
  const { id: copy } = await findTask('Shared');
  t.match((await get(`/api/tasks/${copy}`)).task, {
    name: 'Shared <b>',
    recurrence: /daily|weekly/,
    recurrencePattern: '0 11 * * 5',
    sources: [{ name: 'calendar', url: 'https://example.com/mine.ics' }],
    notificationEmail: null,
  });
});

t.test('A file cannot send answers to its author, nor use a secret', async (t) => {
  const { visitor, findTask, get } = await begin('Kim');
  const list = await visitor.open('/templates');
  const task = {
    name: 'From a stranger',
    prompt: 'What is new on this page?',
    recurrence: 'daily',
    recurrencePattern: '0 8 * * *',
    timezone: 'UTC',
    webhookUrl: 'https://stranger.example.com/hook',
    notificationEmail: 'stranger@example.com',
    sources: [{ name: 'page', url: 'https://example.com/', secret: 'mine' }],
  };
  const template = { id: 'x', name: 'X', purpose: '', category: 'own', needs: [], blanks: [], task };
  const form = await visitor.submit(list, 'Open in the form', { text: JSON.stringify(template) });
  await visitor.submit(form, 'Save task');
  const { id } = await findTask('From a stranger');
  const saved = (await get(`/api/tasks/${id}`)).task;
  t.match(saved, { webhookUrl: null, notificationEmail: null });
  t.same(saved.sources, [{ name: 'page', url: 'https://example.com/' }]);
});

t.test('What is no template is refused with the reason, and kept', async (t) => {
  const { visitor } = await begin('Jo');
  const list = await visitor.open('/templates');
  const texts: [string, RegExp][] = [
    ['', /Choose a file, or paste its text/],
    ['name: yaml', /This is not JSON/],
    ['null', /This is not a template/],
    ['[]', /This is not a template/],
    ['{"id": "x"}', /This is not a template\. \w+:/],
  ];
  for (const [text, message] of texts) {
    const refused = await visitor.submit(list, 'Open in the form', { text });
    t.equal(refused.status, 422, text);
    t.match(refused.document.querySelector('#text-error')?.text, message);
    t.equal(readValue(refused, 'text'), text);
  }
});

t.test('Names, texts and examples are in the language of the account', async (t) => {
  const { visitor, person } = await begin('Lia');
  const { headers } = person;
  await app.inject({ method: 'PATCH', url: '/api/user/settings', headers, payload: { language: 'pt-BR' } });
  const list = await visitor.open('/templates');
  t.match(list.text, /Resumo da manhã.*Preço e estoque/);
  const form = await visitor.open('/tasks/new?template=price-and-stock');
  t.match(form.text.slice(0, 2000), /Preço que você espera ?Por exemplo: R\$ 1\.800/);
  t.match(readValue(form, 'prompt'), /Não invente nada\.$/);
});
