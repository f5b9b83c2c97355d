import t from 'tap';
import { createModelQuirks } from '../../src/lib/ai/models/quirks.ts';
import { buildAiRequest, createTestAi, startTestAi, toFailure } from '../support/ai-client.ts';

t.test('Without an Anthropic key anthropic/… goes to the other service under its full name', async (t) => {
  const { server, ask } = await startTestAi(t);
  t.ok((await ask({ model: 'anthropic/claude-sonnet-4.5' })).ok);
  t.equal(server.requests[0]?.body.model, 'anthropic/claude-sonnet-4.5');
});

t.test('With Anthropic only, any other model is unknown, and the message names AI_BASE_URL', async (t) => {
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: 'http://127.0.0.1:9' });
  t.match(toFailure(await ai.ask(buildAiRequest({ model: 'gpt-4o-mini' }))), {
    errorCode: 'UNKNOWN_MODEL',
    message: /gpt-4o-mini.*AI_BASE_URL/,
    retryable: false,
    usage: null,
  });
});

t.test('A model that refuses max_tokens or a temperature is asked again without, and from then on', async (t) => {
  const { server, ask } = await startTestAi(t);
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
    messages: [{ role: 'user', content: buildAiRequest().prompt }],
    stream: false,
  });
  await ask({ model: 'plain' });
  t.match(server.requests[7]?.body, { max_tokens: 1024, temperature: 0.7 }, 'other models are asked as before');
});

t.test('A model that keeps refusing is not asked forever', async (t) => {
  const { server, ask } = await startTestAi(t);
  const error = { message: 'Unsupported parameter', param: 'max_tokens', code: 'unsupported_parameter' };
  server.answer(() => ({ status: 400, body: { error } }));
  t.match(toFailure(await ask()), { errorCode: 'INVALID_REQUEST' });
  t.equal(server.requests.length, 2);
});

t.test('The refusals of the last two hundred models are remembered', (t) => {
  const quirks = createModelQuirks();
  const body = JSON.stringify({ error: { message: 'Unsupported parameter', param: 'temperature' } });
  const fault = { kind: 'http', status: 400, headers: {}, body } as const;
  for (let number = 0; number <= 200; number += 1) t.ok(quirks.learn({ model: `model-${number}` }, fault, {}));
  t.strictSame(quirks.find({ model: 'model-0' }), {});
  t.strictSame(quirks.find({ model: 'model-1' }), { noTemperature: true });
  t.notOk(
    quirks.learn({ model: 'model-1' }, fault, quirks.find({ model: 'model-1' })),
    'a call that already left the parameter out has nothing to learn',
  );
  t.end();
});

t.test('Any number of models is stored separately', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (let number = 0; number < 450; number += 1) await ask({ model: `model-${number % 225}` });
  t.strictSame(
    server.requests.map((request) => request.body.model),
    Array.from({ length: 450 }, (_, number) => `model-${number % 225}`),
  );
});
