import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createProviders } from '../../src/outside/ai-provider.ts';
import { aiFor, failed, provided, requestOf } from '../support/ai-client.ts';

interface Answer {
  status: number;
  body: object;
}

/** The Messages API of Anthropic, as far as one message needs it. */
async function messagesApi(t: { after: (work: () => Promise<void>) => void }) {
  const requests: { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
  let next: Answer | null = null;
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    requests.push({ url: request.url ?? '', headers: request.headers, body });
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: `${body.model}-20250929`,
      content: [{ type: 'text', text: 'Titan, Rhea, Iapetus' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1000, output_tokens: 100 },
    };
    const { status, body: answer } = next ?? { status: 200, body: message };
    const unkeyed = request.headers['x-api-key'] !== 'anthropic-key-1';
    response.writeHead(unkeyed ? 401 : status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(unkeyed ? { type: 'error', error: { type: 'authentication_error', message: 'No.' } } : answer),
    );
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = (given: Answer | null) => {
    next = given;
  };
  return { url, requests, answer };
}

t.test('models named anthropic/… are asked by the Messages API, without the prefix', async (t) => {
  const anthropic = await messagesApi(t);
  const { server, ask } = await provided(t, {
    apiKey: 'operator-key-1',
    anthropicApiKey: 'anthropic-key-1',
    anthropicBaseUrl: anthropic.url,
  });
  const outcome = await ask({ model: 'anthropic/claude-sonnet-4-5', maxTokens: 321, temperature: 35, apiKey: 'users' });
  t.match(outcome, {
    ok: true,
    text: 'Titan, Rhea, Iapetus',
    usage: {
      model: 'claude-sonnet-4-5-20250929',
      inputTokens: 1000,
      outputTokens: 100,
      estimated: false,
      costUsd: 0.0045,
    },
  });
  const [request] = anthropic.requests;
  t.equal(request?.url, '/v1/messages');
  t.match(request?.body, { model: 'claude-sonnet-4-5', max_tokens: 321, temperature: 0.35 });
  t.match(request?.body.messages, [{ role: 'user', content: [{ type: 'text', text: requestOf().prompt }] }]);
  t.equal(request?.headers['x-api-key'], 'anthropic-key-1');
  t.equal(request?.headers.authorization, undefined, 'no key of the other service goes there');
  t.equal(server.requests.length, 0);
  t.ok((await ask({ model: 'openai/gpt-4o-mini' })).ok);
  t.equal(server.requests[0]?.body.model, 'openai/gpt-4o-mini', 'any other model goes to the other service');
});

t.test('a setting that the SDK bends to what Claude takes is bent without a warning', async (t) => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on('warning', note);
  t.after(async () => {
    process.off('warning', note);
  });
  const anthropic = await messagesApi(t);
  const ai = aiFor(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url });
  t.ok((await ai.ask(requestOf({ model: 'anthropic/claude-sonnet-4-5', temperature: 180 }))).ok);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(anthropic.requests[0]?.body.temperature, 1);
  t.strictSame(warnings, []);
});

t.test('an Anthropic address is taken with and without /v1', async (t) => {
  const anthropic = await messagesApi(t);
  for (const anthropicBaseUrl of [anthropic.url, `${anthropic.url}/v1`]) {
    const ai = aiFor(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl });
    t.ok((await ai.ask(requestOf({ model: 'anthropic/claude-sonnet-4-5' }))).ok);
  }
  t.strictSame(
    anthropic.requests.map((request) => request.url),
    ['/v1/messages', '/v1/messages'],
  );
});

t.test('without an Anthropic key anthropic/… goes to the other service under its whole name', async (t) => {
  const { server, ask } = await provided(t);
  t.ok((await ask({ model: 'anthropic/claude-sonnet-4.5' })).ok);
  t.equal(server.requests[0]?.body.model, 'anthropic/claude-sonnet-4.5');
});

t.test('failures of the Messages API have the same codes', async (t) => {
  const anthropic = await messagesApi(t);
  const settings = { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url };
  const ask = () => aiFor(t, settings).ask(requestOf({ model: 'anthropic/claude-sonnet-4-5' }));
  const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });
  for (const [status, body, errorCode, retryable] of [
    [529, error('overloaded_error', 'Overloaded'), 'PROVIDER_UNAVAILABLE', true],
    [429, error('rate_limit_error', 'Too many tokens a minute'), 'RATE_LIMIT_EXCEEDED', true],
    [400, error('invalid_request_error', 'max_tokens: too large'), 'INVALID_REQUEST', false],
    [400, error('invalid_request_error', 'Your credit balance is too low'), 'QUOTA_EXCEEDED', false],
    [404, error('not_found_error', 'model: claude-x'), 'INVALID_REQUEST', false],
    [200, { type: 'message', content: 'none' }, 'PROVIDER_ERROR', false],
  ] as const) {
    anthropic.answer({ status, body });
    t.match(failed(await ask()), { errorCode, retryable }, `${status} ${JSON.stringify(body)}`);
  }
  anthropic.answer(null);
  const stranger = aiFor(t, { ...settings, anthropicApiKey: 'another-key-1' });
  const refused = await stranger.ask(requestOf({ model: 'anthropic/claude-sonnet-4-5' }));
  t.match(failed(refused), { errorCode: 'AUTHENTICATION_FAILED' });
});

t.test('a refusal of Claude is a filtered answer', async (t) => {
  const anthropic = await messagesApi(t);
  const ai = aiFor(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url });
  const usage = { input_tokens: 10, output_tokens: 1 };
  anthropic.answer({
    status: 200,
    body: { type: 'message', id: 'msg_1', model: 'claude-x', content: [], stop_reason: 'refusal', usage },
  });
  const outcome = await ai.ask(requestOf({ model: 'anthropic/claude-x' }));
  t.match(failed(outcome), { errorCode: 'CONTENT_FILTERED', retryable: false, usage: { inputTokens: 10 } });
});

t.test('with Anthropic alone any other model is an invalid request that names AI_BASE_URL', async (t) => {
  const ai = aiFor(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: 'http://127.0.0.1:9' });
  t.match(failed(await ai.ask(requestOf({ model: 'gpt-4o-mini' }))), {
    errorCode: 'INVALID_REQUEST',
    message: /gpt-4o-mini.*AI_BASE_URL/,
    retryable: false,
    usage: null,
  });
});

t.test('a model that refuses max_tokens or a temperature is asked again without, and from then on', async (t) => {
  const { server, ask } = await provided(t);
  const refusal = (param: string, code: string, message: string) => ({
    status: 400,
    body: { error: { message, type: 'invalid_request_error', param, code } },
  });
  server.answer(({ body }) => {
    if (body.model === 'plain') return {};
    const hint = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    if (body.max_tokens) return refusal('max_tokens', 'unsupported_parameter', `Unsupported parameter: ${hint}`);
    const only = "'temperature' does not support 0.7 with this model. Only the default (1) value is supported.";
    return body.temperature ? refusal('temperature', 'unsupported_value', `Unsupported value: ${only}`) : {};
  });
  const outcomes = await Promise.all([ask({ model: 'thinker' }), ask({ model: 'thinker' })]);
  t.ok(outcomes.every((outcome) => outcome.ok));
  t.equal(server.requests.length, 6, 'two calls that learn at the same time both succeed');
  t.ok((await ask({ model: 'thinker', maxTokens: 77 })).ok);
  t.equal(server.requests.length, 7);
  t.strictSame(server.requests[6]?.body, {
    model: 'thinker',
    max_completion_tokens: 77,
    messages: [{ role: 'user', content: requestOf().prompt }],
  });
  await ask({ model: 'plain' });
  t.match(server.requests[7]?.body, { max_tokens: 1024, temperature: 0.7 }, 'other models are asked as before');
});

t.test('a model that goes on refusing is not asked for ever', async (t) => {
  const { server, ask } = await provided(t);
  const error = { message: 'Unsupported parameter', param: 'max_tokens', code: 'unsupported_parameter' };
  server.answer(() => ({ status: 400, body: { error } }));
  t.match(failed(await ask()), { errorCode: 'INVALID_REQUEST' });
  t.equal(server.requests.length, 2);
});

t.test('the models asked of late are kept, and no more than a few hundred', (t) => {
  const settings = { baseUrl: 'http://127.0.0.1:9/v1', apiKey: null, anthropicApiKey: null, anthropicBaseUrl: null };
  const providers = createProviders({ ...settings, timeoutMs: 1000 }, fetch);
  const model = (name: string) => {
    const route = providers.find(name, null);
    return route.kind === 'provider' ? route.model : null;
  };
  const [often, once] = [model('often'), model('once')];
  for (let number = 0; number < 400; number += 1) {
    model(`model-${number}`);
    model('often');
  }
  t.equal(model('often'), often);
  t.not(model('once'), once);
  t.end();
});

t.test('models are told apart however many there are', async (t) => {
  const { server, ask } = await provided(t);
  for (let number = 0; number < 450; number += 1) await ask({ model: `model-${number % 225}` });
  t.strictSame(
    server.requests.map((request) => request.body.model),
    Array.from({ length: 450 }, (_, number) => `model-${number % 225}`),
  );
});
