import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createWorker } from '../../../api/src/entry/worker.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { until } from '../../../api/test/support/until.ts';
import { visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const server = await startAiServer();
t.after(() => server.close());
const { app, ctx, clock } = await testContext(t, { env: { AI_BASE_URL: server.url } });
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const { get, findTask } = createReader(app, alice);
const alices = visit(app, alice);

const PROMPT = 'What happened since yesterday? Five lines.';

t.test('A prompt is tried before it is saved, and counts like a message of agent mode', async (t) => {
  server.answer(() => ({ text: '# All quiet\n\n<script>alert(1)</script> **Nothing** happened.' }));
  const typed = { name: '', prompt: PROMPT, aiModel: 'a-model', maxTokens: '77', temperature: '1,25', at: '21:30' };
  const page = await alices.submit(await alices.open('/tasks/new'), 'Try it now', typed);
  t.match(page, { status: 200, heading: 'New task', text: /Trial answer/ });
  t.match(
    page.document.querySelector('.answer')?.toString(),
    /<h3>All quiet<\/h3>\s*<p>&lt;script&gt;.*<strong>Nothing/,
  );
  t.match(page.text, /tokens/);
  for (const [name, value] of Object.entries(typed)) t.equal(readValue(page, name), value, `${name} is kept`);
  const { body } = server.requests.at(-1)!;
  t.match(body, {
    model: 'a-model',
    max_tokens: 77,
    temperature: 1.25,
    messages: [{ role: 'system' }, { role: 'user', content: PROMPT }],
  });
  const { daily } = (await get('/api/usage')).usage;
  t.equal(daily.executions.used, 1);
  t.ok(daily.tokens.used > 0);
  t.equal(await findTask(''), undefined, 'no task is stored');
});

t.test(
  'A prompt is paid once: sent twice, after a reload, from a form that is opened again, and in two tabs',
  async (t) => {
    const used = async () => (await get('/api/usage')).usage.daily.executions.used;
    const [before, asked] = [await used(), server.requests.length];
    server.answer(() => ({ text: `Answer ${server.requests.length - asked}` }));
    const open = () => alices.open('/tasks/new');
    const tabs = await Promise.all([open(), open()]);
    const pages = await Promise.all(
      [...tabs, ...tabs].map((page) => alices.submit(page, 'Try it now', { prompt: PROMPT })),
    );
    for (const page of pages) t.match(page.document.querySelector('#answer-now .answer')?.text, /Answer 1/);
    t.match((await alices.submit(await open(), 'Try it now', { prompt: PROMPT })).text, /Answer 1/, 'opened again');
    t.match((await alices.stream(await open(), 'Try it now', { prompt: PROMPT })).done?.html, /Answer 1/);
    t.equal(server.requests.length, asked + 1);
    t.equal(await used(), before + 1);
    const answered = pages[0]!;
    t.ok(answered.document.querySelector('#answer-now[autofocus][tabindex="-1"]'), 'the answer gets the focus');
    const again = await Promise.all([answered, pages[1]!].map((page) => alices.submit(page, 'Try it now')));
    for (const page of again) t.match(page.text, /Answer 2/, 'who has seen the answer gets another one');
    await alices.submit(tabs[0], 'Try it now', { prompt: `${PROMPT} Or six.` });
    t.equal(server.requests.length, asked + 3, 'another prompt is another answer');
    clock.advance(10 * 60_000 + 1);
    t.match(
      (await alices.submit(await open(), 'Try it now', { prompt: PROMPT })).text,
      /Answer 4/,
      'ten minutes later',
    );
    clock.set(START);
  },
);

t.test('A script gets the answer of a trial as it arrives, and then with its details', async (t) => {
  server.answer(() => ({ pieces: ['# Ca', 'lm\n\n', 'Nothing **new**.'] }));
  const prompt = 'What is new in the harbour today?';
  const open = await alices.open('/tasks/new');
  const streamed = await alices.stream(open, 'Try it now', { prompt });
  t.match(streamed.response.headers, { 'content-type': /^text\/event-stream/, 'x-accel-buffering': 'no' });
  t.equal(streamed.text, '# Calm\n\nNothing **new**.');
  t.match(streamed.done, { isRefused: false, html: /<section .*id="answer-now".*tokens.*<strong>new<\/strong>/s });
  t.match(server.requests.at(-1)?.body, { stream: true });
  const short = await alices.stream(open, 'Try it now', { prompt: 'short' });
  t.match(short.done, { isRefused: true, html: /role="alert".*href="#prompt".*at least 10 characters/s });
  server.answer(() => ({ text: '{"price": 59.9}' }));
  const withSchema = await alices.stream(open, 'Try it now', { ...PRICE, prompt: 'What does it cost?' });
  t.match(withSchema, { pieces: 0, done: { html: /59\.9/ } }, 'half an object is not shown');
});

t.test('A browser that leaves does not stop its trial, whose answer is there when it comes back', async (t) => {
  const open = await alices.open('/tasks/new');
  const asked = server.requests.length;
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  server.answer(async () => {
    await left;
    return { text: 'Late, but here.' };
  });
  const values = { prompt: 'What is late in the harbour today?' };
  const abort = new AbortController();
  const sent = alices.stream(open, 'Try it now', values, abort.signal).catch(() => null);
  await until(() => server.requests.length > asked);
  abort.abort();
  leave();
  await sent;
  t.match((await alices.submit(open, 'Try it now', values)).text, /Late, but here\./);
  t.equal(server.requests.length, asked + 1);
});

t.test('The page of a task tries its prompt, and stores no run', async (t) => {
  const form = await alices.open('/tasks/new');
  const page = await alices.submit(form, 'Save task', { name: 'Harbour', prompt: 'What is new in the harbour?' });
  server.answer(() => ({ text: 'A **ship**.' }));
  const tried = await alices.submit(page, 'Try it now');
  t.match(tried, { status: 200, heading: 'Harbour', text: /Trial answer.*A ship/ });
  t.match((await alices.stream(page, 'Try it now')).done?.html, /<strong>ship<\/strong>/);
  t.equal((await get(`/api/executions?taskId=${page.url.split('/').at(-1)}`)).executions.length, 0);
  server.answer(() => ({ status: 401, body: { error: { message: 'no such key' } } }));
  t.match(await alices.submit(tried, 'Try it now'), {
    status: 503,
    heading: 'Harbour',
    text: /The prompt was not sent/,
  });
  const bob = visit(app, await signUp(app));
  const own = await bob.submit(await bob.open('/tasks/new'), 'Save task', {
    name: 'Own',
    prompt: 'What is my own task?',
  });
  own.document.querySelector('form[action$="/try"]')?.setAttribute('action', `${page.url}/try`);
  t.equal((await bob.submit(own, 'Try it now')).status, 404);
});

t.test('A run is started once, however often its button is pressed', async (t) => {
  server.answer(() => ({ text: 'Fine.' }));
  const form = await alices.open('/tasks/new');
  const page = await alices.submit(form, 'Save task', { name: 'Pressed twice', prompt: 'What is new in the harbour?' });
  const runs = async () => (await get(`/api/executions?taskId=${page.url.split('/').at(-1)}`)).executions.length;
  await Promise.all([1, 2, 3].map(() => alices.submit(page, 'Run now')));
  t.equal(await runs(), 1);
  await createWorker(ctx).drain();
  await alices.submit(await alices.open(page.url), 'Run now');
  t.equal(await runs(), 2, 'a page that is opened again starts another one');
  await createWorker(ctx).drain();
  const [{ id }] = (await get(`/api/executions?taskId=${page.url.split('/').at(-1)}`)).executions;
  const run = await alices.open(`/executions/${id}`);
  const again = await Promise.all([1, 2].map(() => alices.submit(run, 'Run again')));
  t.equal(again[0]?.url, again[1]?.url);
  t.equal(await runs(), 3);
});

t.test('A task is saved once, however often its form is sent', async (t) => {
  const open = await alices.open('/tasks/new');
  const send = () => alices.submit(open, 'Save task', { name: 'Only once', prompt: PROMPT });
  const pages = await Promise.all([send(), send(), send()]);
  t.equal(new Set(pages.map(({ url }) => url)).size, 1);
  t.equal((await get('/api/tasks?search=Only+once')).tasks.length, 1);
});

t.test('What a run costs is said before the task is saved', async (t) => {
  const page = await alices.open('/tasks/new');
  t.match(
    page.document.querySelector('#runs')?.text,
    /At most \$0\.00\d+ a run, and \$0\.\d+ in 30 days \(30 runs\)\./,
  );
  const hourly = await alices.submit(page, 'Update', { every: 'hour', minute: '0', aiModel: 'no-such-model' });
  t.match(hourly.document.querySelector('#runs')?.text, /719 runs in 30 days\. The price of this model is not known\./);
  const { id } = await findTask('Only once');
  server.answer(() => ({ text: 'Fine.' }));
  for (let run = 0; run < 3; run += 1) {
    await alices.submit(await alices.open(`/tasks/${id}`), 'Run now');
    await createWorker(ctx).drain();
  }
  t.match(
    (await alices.open(`/tasks/${id}/edit`)).document.querySelector('#runs')?.text,
    /About < \$0\.0001 a run, as the latest ones, and \$0\.0\d+ in 30 days \(30 runs\)\./,
  );
});

t.test('A prompt that cannot be tried says why, and keeps what was typed', async (t) => {
  const open = await alices.open('/tasks/new');
  const short = await alices.submit(open, 'Try it now', { prompt: 'short' });
  t.match(short, { status: 422, text: /The prompt was not sent/ });
  t.match(short.document.querySelector('#prompt-error')?.text, /at least 10 characters/);
  server.answer(() => ({ status: 401, body: { error: { message: 'no such key' } } }));
  const failed = await alices.submit(open, 'Try it now', { prompt: PROMPT, name: 'Kept' });
  t.match(failed, { status: 503, heading: 'New task', text: /The prompt was not sent/ });
  t.equal(readValue(failed, 'name'), 'Kept');
});

const SCHEMA = JSON.stringify({ type: 'object', properties: { price: { type: 'number' } }, required: ['price'] });
const PRICE = {
  prompt: 'What does the bin cost today?',
  answerAs: 'schema',
  outputSchema: SCHEMA,
  watch: 'price\nshop',
};

t.test('A schema and watched values are tried with the prompt, and nothing is stored', async (t) => {
  server.answer(() => ({ text: '{"price": 59.9}' }));
  const page = await alices.submit(await alices.open('/tasks/new'), 'Try it now', PRICE);
  t.equal(page.status, 200);
  const pairs = page.document.querySelectorAll('#answer-now dl').map((list) => list.children.map(({ text }) => text));
  t.same(pairs, [
    ['price', '59.9'],
    ['price', '59.9', 'shop', 'not in this answer'],
  ]);
  t.notMatch(page.text, /since the last success/, 'a new task has none');
  t.equal(readValue(page, 'outputSchema'), SCHEMA);
});

t.test('An answer that does not match the schema is shown with what is wrong', async (t) => {
  server.answer(() => ({ text: '{"price": "</details><script>alert(1)</script>"}' }));
  const page = await alices.submit(await alices.open('/tasks/new'), 'Try it now', {
    ...PRICE,
    prompt: 'What does the other bin cost?',
  });
  t.match(page, { status: 200, text: /The answer does not match the schema\..*price.*number/ });
  t.match(page.document.querySelector('#answer-now pre')?.text, '<script>alert(1)</script>');
  t.equal(page.document.querySelectorAll('main script').length, 0);
});

t.test('Schemas and paths that cannot be are refused before the model is asked', async (t) => {
  const asked = server.requests.length;
  const open = await alices.open('/tasks/new');
  const cases = [
    ['outputSchema', '{"type": "array"}', /JSON schema at type: must be "object"/],
    [
      'outputSchema',
      '{"type": "object", "properties": {"price": {"type": "money"}}}',
      /JSON schema at properties\.price/,
    ],
    ['outputSchema', '{"type": "object"', /Invalid JSON/],
    ['watch', 'price\na..b', /Line 2 of the watched values must be a path/],
  ] as const;
  for (const [field, value, message] of cases) {
    const page = await alices.submit(open, 'Try it now', { ...PRICE, [field]: value });
    t.match(page, { status: 422, text: /The prompt was not sent/ }, value);
    t.match(page.document.querySelector(`#${field}-error`)?.text, message);
    t.equal(readValue(page, field), value);
  }
  t.equal(server.requests.length, asked);
});

t.test('The form of a stored task says whether the answer has changed since the last success', async (t) => {
  const form = await alices.open('/tasks/new');
  const { watch: _watch, ...whole } = PRICE;
  const saved = await alices.submit(form, 'Save task', { name: 'Bin price', ...whole });
  server.answer(() => ({ text: '{"price": 59.9}' }));
  await alices.submit(saved, 'Run now');
  await createWorker(ctx).drain();
  const edit = await alices.open(`${saved.url}/edit`);
  const same = await alices.submit(edit, 'Try it now');
  t.match(same, { text: /Unchanged since the last success\./ });
  server.answer(() => ({ text: '{"price": 64.9}' }));
  t.match(await alices.submit(same, 'Try it now'), { text: /Changed since the last success: ?price\./ });
});

t.test('The models of the provider are offered, and a name beside them stays', async (t) => {
  const models = createServer((request, response) => {
    t.equal(request.headers.authorization, 'Bearer the-key');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: [{ id: 'small' }, { id: 'large' }, { id: 'with blanks' }, { id: 7 }, null] }));
  });
  await new Promise<void>((resolve) => models.listen(0, '127.0.0.1', resolve));
  t.after(() => models.close());
  const { port } = models.address() as AddressInfo;
  const listed = await testContext(t, { env: { AI_BASE_URL: `http://127.0.0.1:${port}/v1`, AI_API_KEY: 'the-key' } });
  const page = await visit(listed.app, await signUp(listed.app)).open('/tasks/new');
  const names = page.document.querySelectorAll('#aiModel option').map(({ text }) => text);
  t.same(names.slice(1), ['large', 'small']);
  t.match(page.text, /does not list this model/, 'the default model is not one of them');
});

t.test('A provider without a list, and none at all, leave a field with the default model', async (t) => {
  const without = await alices.open('/tasks/new');
  t.match(without.text, /has no list of models/);
  t.equal(without.document.querySelector('#aiModel')?.tagName, 'INPUT');
  const offline = await testContext(t, { env: { AI_BASE_URL: 'offline' } });
  const page = await visit(offline.app, await signUp(offline.app)).open('/tasks/new');
  t.match(page.text, /built-in offline model answers/);
  t.ok(readValue(page, 'aiModel'));
});
