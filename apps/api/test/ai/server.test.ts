import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type AiServerOptions, startAiServer } from '../support/servers/ai-server.ts';

const good = { model: 'test-model', messages: [{ role: 'user', content: 'Name a moon.' }] };

async function serverFor(t: { after: (work: () => Promise<void>) => void }, options?: AiServerOptions) {
  const server = await startAiServer(options);
  t.after(() => server.close());
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { server, post };
}

t.test('The AI server refuses what real ones refuse', async (t) => {
  const { server, post } = await serverFor(t, { apiKey: 'the-key' });
  const key = { authorization: 'Bearer the-key' };
  t.equal((await post(good)).status, 401);
  t.equal((await post(good, { authorization: 'Bearer other' })).status, 401);
  t.equal((await post(good, { ...key, 'content-type': 'text/plain' })).status, 400);
  for (const body of [
    '{',
    '[]',
    'null',
    {},
    { ...good, model: 7 },
    { ...good, messages: [] },
    { ...good, messages: [{ role: 'robot', content: 'x' }] },
    { ...good, messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
    { ...good, max_tokens: 0 },
    { ...good, max_tokens: 1.5 },
    { ...good, temperature: 2.1 },
    { ...good, stream: 'yes' },
    { ...good, stream_options: { include_usage: true } },
  ]) {
    const response = await post(body, key);
    t.equal(response.status, 400, JSON.stringify(body));
    t.match(await response.json(), { error: { message: String, type: 'invalid_request_error' } });
  }
  t.equal((await fetch(`${server.url}/models`, { headers: key })).status, 404);
  t.equal((await fetch(`${server.url}/chat/completions`, { headers: key })).status, 405);
  t.equal(server.requests.length, 0, 'what is refused is not kept');
  t.equal((await post(good, key)).status, 200);
});

t.test('A streamed answer arrives in events and ends with its usage if that was requested', async (t) => {
  const { server, post } = await serverFor(t);
  server.answer(() => ({ text: 'Titan is large.', usage: { promptTokens: 3, completionTokens: 4 } }));
  t.notMatch(await (await post({ ...good, stream: true })).text(), 'usage');
  const response = await post({ ...good, stream: true, stream_options: { include_usage: true } });
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  const events = (await response.text()).trimEnd().split('\n\n');
  t.equal(events.pop(), 'data: [DONE]');
  const chunks = events.map((event) => JSON.parse(event.replace(/^data: /, '')));
  t.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'Titan is large.');
  t.match(chunks.at(-1), { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } });
});

t.test('The AI server records each request with its time and headers', async (t) => {
  const { server, post } = await serverFor(t);
  const before = performance.timeOrigin + performance.now();
  await post(good, { 'x-mark': '1' });
  const after = performance.timeOrigin + performance.now();
  const [request] = server.requests;
  t.match(request, { body: good, headers: { 'x-mark': '1' } });
  t.ok(request && request.at >= before && request.at <= after);
});

t.test('Close ends answers in progress', async (t) => {
  const { server, post } = await serverFor(t);
  server.answer(() => ({ delayMs: 60_000 }));
  const asked = post(good).then(
    () => 'answered',
    () => 'ended',
  );
  while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await server.close();
  t.equal(await asked, 'ended');
});

t.test('The AI server runs as a process of its own and stops on request', async (t) => {
  const main = fileURLToPath(new URL('../support/servers/ai-server-main.ts', import.meta.url));
  const env = { ...process.env, DELAY_MS: '80' };
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    child.kill('SIGKILL');
  });
  const url = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data).trim())));
  const startedAt = performance.now();
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(good),
  });
  t.match(await response.json(), { choices: [{ message: { content: 'Answer to: Name a moon.' } }] });
  t.ok(performance.now() - startedAt >= 75);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  t.equal(await ended, 0);
});
