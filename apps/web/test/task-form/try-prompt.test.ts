import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { visit } from '../support/visitor.ts';
import { createReader, readValue } from './read-form.ts';

const server = await startAiServer();
t.after(() => server.close());
const { app } = await testContext(t, { env: { AI_BASE_URL: server.url } });
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const { get, findTask } = createReader(app, alice);
const alices = visit(app, alice);

const PROMPT = 'What happened since yesterday? Five lines.';

t.test('A prompt is tried before it is saved, and counts like a message of agent mode', async (t) => {
  server.answer(() => ({ text: '# All quiet\n\n<script>alert(1)</script> **Nothing** happened.' }));
  const typed = { name: '', prompt: PROMPT, aiModel: 'a-model', maxTokens: '77', temperature: '1,25', at: '21:30' };
  const page = await alices.submit(await alices.open('/tasks/new'), 'Try it now', typed);
  t.match(page, { status: 200, heading: 'New task', text: /The answer now/ });
  t.match(
    page.document.querySelector('.answer')?.toString(),
    /<h3>All quiet<\/h3>\s*<p>&lt;script&gt;.*<strong>Nothing/,
  );
  t.match(page.text, /tokens/);
  for (const [name, value] of Object.entries(typed)) t.equal(readValue(page, name), value, `${name} is kept`);
  const { body } = server.requests.at(-1)!;
  t.match(body, { model: 'a-model', max_tokens: 77, temperature: 1.25, messages: [{ role: 'user', content: PROMPT }] });
  const { daily } = (await get('/api/usage')).usage;
  t.equal(daily.executions.used, 1);
  t.ok(daily.tokens.used > 0);
  t.equal(await findTask(''), undefined, 'no task is stored');
});

t.test('A prompt that cannot be tried says why, and keeps what was typed', async (t) => {
  const open = await alices.open('/tasks/new');
  const short = await alices.submit(open, 'Try it now', { prompt: 'short' });
  t.match(short, { status: 422, text: /Not tried/ });
  t.match(short.document.querySelector('#prompt-error')?.text, /at least 10 characters/);
  server.answer(() => ({ status: 401, body: { error: { message: 'no such key' } } }));
  const failed = await alices.submit(open, 'Try it now', { prompt: PROMPT, name: 'Kept' });
  t.match(failed, { status: 503, heading: 'New task', text: /Not tried/ });
  t.equal(readValue(failed, 'name'), 'Kept');
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
  t.match(without.text, /gives no list of its models/);
  t.equal(without.document.querySelector('#aiModel')?.tagName, 'INPUT');
  const offline = await testContext(t, { env: { AI_BASE_URL: 'offline' } });
  const page = await visit(offline.app, await signUp(offline.app)).open('/tasks/new');
  t.match(page.text, /built-in offline model answers/);
  t.ok(readValue(page, 'aiModel'));
});
