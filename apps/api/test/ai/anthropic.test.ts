import t from 'tap';
import { buildAiRequest, createTestAi, startTestAi, toFailure } from '../support/ai-client.ts';
import { startAnthropicServer } from '../support/servers/anthropic-server.ts';

t.test('Models named anthropic/… go to the Messages API without the prefix', async (t) => {
  const anthropic = await startAnthropicServer(t);
  const { server, ask } = await startTestAi(t, {
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
  t.match(request?.body.messages, [{ role: 'user', content: [{ type: 'text', text: buildAiRequest().prompt }] }]);
  t.equal(request?.headers['x-api-key'], 'anthropic-key-1');
  t.equal(request?.headers.authorization, undefined, 'no key of the other service goes there');
  t.equal(server.requests.length, 0);
  t.ok((await ask({ model: 'openai/gpt-4o-mini' })).ok);
  t.equal(server.requests[0]?.body.model, 'openai/gpt-4o-mini', 'any other model goes to the other service');
});

t.test("A temperature above Claude's maximum is sent as the maximum", async (t) => {
  const anthropic = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url });
  t.ok((await ai.ask(buildAiRequest({ model: 'anthropic/claude-sonnet-4-5', temperature: 180 }))).ok);
  t.equal(anthropic.requests[0]?.body.temperature, 1);
});

t.test('What Claude refuses is omitted or reduced from then on', async (t) => {
  const anthropic = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url });
  const ask = () => ai.ask(buildAiRequest({ model: 'anthropic/claude-x', maxTokens: 100_000 }));
  const refusal = (message: string) => ({
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message } },
  });
  const most = 'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x';
  for (const message of ['`temperature` is deprecated for this model.', most]) {
    anthropic.answer(refusal(message));
    t.match(toFailure(await ask()), { errorCode: 'INVALID_REQUEST' }, 'one that always refuses is not asked for ever');
  }
  anthropic.answer(null);
  t.ok((await ask()).ok);
  t.strictSame(
    anthropic.requests.map(({ body }) => [body.temperature, body.max_tokens]),
    [
      [0.7, 100_000],
      [undefined, 100_000],
      [undefined, 100_000],
      [undefined, 64_000],
      [undefined, 64_000],
    ],
  );
});

t.test('An Anthropic address is accepted with and without /v1', async (t) => {
  const anthropic = await startAnthropicServer(t);
  for (const anthropicBaseUrl of [anthropic.url, `${anthropic.url}/v1`]) {
    const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl });
    t.ok((await ai.ask(buildAiRequest({ model: 'anthropic/claude-sonnet-4-5' }))).ok);
  }
  t.strictSame(
    anthropic.requests.map((request) => request.url),
    ['/v1/messages', '/v1/messages'],
  );
});

t.test('Errors of the Messages API have the same codes', async (t) => {
  const anthropic = await startAnthropicServer(t);
  const settings = { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url };
  const ask = () => createTestAi(t, settings).ask(buildAiRequest({ model: 'anthropic/claude-sonnet-4-5' }));
  const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });
  for (const [status, body, errorCode, retryable] of [
    [529, error('overloaded_error', 'Overloaded'), 'PROVIDER_UNAVAILABLE', true],
    [429, error('rate_limit_error', 'Too many tokens a minute'), 'RATE_LIMIT_EXCEEDED', true],
    [400, error('invalid_request_error', 'max_tokens: too large'), 'INVALID_REQUEST', false],
    [400, error('invalid_request_error', 'Your credit balance is too low'), 'QUOTA_EXCEEDED', false],
    [404, error('not_found_error', 'model: claude-x'), 'UNKNOWN_MODEL', false],
    [200, { type: 'message', content: 'none' }, 'PROVIDER_UNAVAILABLE', true],
    [200, { type: 'error', error: { type: 'rate_limit_error', message: 'No.' } }, 'RATE_LIMIT_EXCEEDED', true],
  ] as const) {
    anthropic.answer({ status, body });
    t.match(toFailure(await ask()), { errorCode, retryable }, `${status} ${JSON.stringify(body)}`);
  }
  anthropic.answer(null);
  const stranger = createTestAi(t, { ...settings, anthropicApiKey: 'another-key-1' });
  const refused = await stranger.ask(buildAiRequest({ model: 'anthropic/claude-sonnet-4-5' }));
  t.match(toFailure(refused), { errorCode: 'AUTHENTICATION_FAILED' });
});

t.test('A refusal by Claude is a filtered answer', async (t) => {
  const anthropic = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url });
  const usage = { input_tokens: 10, output_tokens: 1 };
  anthropic.answer({
    status: 200,
    body: { type: 'message', id: 'msg_1', model: 'claude-x', content: [], stop_reason: 'refusal', usage },
  });
  const outcome = await ai.ask(buildAiRequest({ model: 'anthropic/claude-x' }));
  t.match(toFailure(outcome), { errorCode: 'CONTENT_FILTERED', retryable: false, usage: { inputTokens: 10 } });
});
