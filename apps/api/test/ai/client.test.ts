import t from 'tap';
import { startTestAi, toFailure } from '../support/ai-client.ts';

t.test('The prompt arrives as the only user message, with model, limit and key', async (t) => {
  const { server, ask } = await startTestAi(t, { apiKey: 'operator-key-1' });
  const outcome = await ask({ model: 'maker/model-1', prompt: 'Héllo 🌍\nsecond line', maxTokens: 321 });
  t.match(outcome, { ok: true, text: 'Answer to: Héllo 🌍\nsecond line' });
  t.strictSame(server.requests[0]?.body, {
    model: 'maker/model-1',
    max_tokens: 321,
    temperature: 0.7,
    messages: [{ role: 'user', content: 'Héllo 🌍\nsecond line' }],
    stream: false,
  });
  t.equal(server.requests[0]?.headers.authorization, 'Bearer operator-key-1');
});

t.test('Every temperature arrives as exactly its hundredths', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (let hundredths = 0; hundredths <= 200; hundredths += 1) await ask({ temperature: hundredths });
  const received = server.requests.map((request) => JSON.stringify(request.body.temperature));
  t.strictSame(
    received,
    Array.from({ length: 201 }, (_, hundredths) => String(Number(`${hundredths}e-2`))),
  );
});

t.test("A user's own key replaces the operator's, and without a key no header is sent", async (t) => {
  const { server, ask } = await startTestAi(t, { apiKey: 'operator-key-1' });
  await ask({ apiKey: 'the-users-own-key' });
  await ask({ apiKey: null });
  await ask({ apiKey: '' });
  const keyless = await startTestAi(t);
  await keyless.ask();
  t.strictSame(
    [...server.requests, ...keyless.server.requests].map((request) => request.headers.authorization),
    ['Bearer the-users-own-key', 'Bearer operator-key-1', 'Bearer operator-key-1', undefined],
  );
});

t.test('A key that is not a valid header is refused without a request', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const apiKey of ['schlüssel', 'key\r\nx-injected: 1', 'two words']) {
    const { message, ...rest } = toFailure(await ask({ apiKey }));
    t.strictSame(rest, { errorCode: 'AUTHENTICATION_FAILED', retryable: false, retryAfterMs: null, usage: null });
    t.notMatch(message, apiKey);
  }
  t.equal(server.requests.length, 0);
});

t.test("An outcome has the duration of the call and the provider's counts", async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ delayMs: 60, model: 'model-0613', usage: { promptTokens: 12, completionTokens: 34 } }));
  const { durationMs, usage } = await ask();
  t.ok(durationMs >= 55 && durationMs < 3000 && Number.isInteger(durationMs), `${durationMs} ms`);
  t.strictSame(usage, {
    model: 'model-0613',
    provider: 'default',
    inputTokens: 12,
    outputTokens: 34,
    estimated: false,
    costUsd: 0,
  });
});

t.test('Text contains nothing that PostgreSQL refuses', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: 'a\u0000b\uD83Dc\uDE00d 😀', model: 'm\u0000\uD800' }));
  const outcome = await ask();
  t.match(outcome, { ok: true, text: 'ab\uFFFDc\uFFFDd 😀', usage: { model: 'm\uFFFD' } });
});

t.test('Text is cut at 1 MiB, and never inside a character', async (t) => {
  const { server, ask } = await startTestAi(t);
  const limit = 1024 * 1024;
  for (const [text, kept] of [
    ['x'.repeat(limit), limit],
    ['x'.repeat(limit + 1), limit],
    [`${'x'.repeat(limit - 1)}😀`, limit - 1],
  ] as const) {
    server.answer(() => ({ text, usage: { promptTokens: 1, completionTokens: 1 } }));
    const outcome = await ask();
    t.ok(outcome.ok && outcome.text === text.slice(0, kept), `${text.length} code units`);
  }
});

t.test('A text cut off at the token limit is a success', async (t) => {
  const { server, ask } = await startTestAi(t);
  const text = 'The three largest';
  server.answer(() => ({ text, finishReason: 'length', usage: { promptTokens: 9, completionTokens: 1024 } }));
  t.match(await ask(), { ok: true, text, usage: { outputTokens: 1024 } });
});

t.test('An answer without a text is retried and charged, unless the token limit ended it', async (t) => {
  const { server, ask } = await startTestAi(t);
  const usage = { prompt_tokens: 9, completion_tokens: 1024 };
  for (const content of [null, undefined, '', ' \n', '\u0000', 7, true, {}, [], [{ type: 'text', text: 7 }]]) {
    for (const [finish, errorCode, retryable] of [
      ['stop', 'PROVIDER_UNAVAILABLE', true],
      ['tool_calls', 'PROVIDER_UNAVAILABLE', true],
      ['length', 'PROVIDER_ERROR', false],
    ] as const) {
      const message = { role: 'assistant', content, reasoning: 'So …' };
      server.answer(() => ({ body: { choices: [{ message, finish_reason: finish }], usage } }));
      for (const onText of [undefined, () => {}]) {
        t.match(
          toFailure(await ask({ onText })),
          { errorCode, retryable, usage: { outputTokens: 1024, estimated: false } },
          `${JSON.stringify(content)} ${finish}`,
        );
      }
    }
  }
  server.answer(() => ({ text: '', finishReason: 'length' }));
  const { message } = toFailure(await ask({ onText: () => {} }));
  t.equal(message, 'The model wrote no text within 1024 tokens: raise maxTokens.');
});

t.test('An answer that the content filter stopped is a failure that is charged', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: 'So far', finishReason: 'content_filter', usage: { promptTokens: 9, cost: 0.5 } }));
  t.match(toFailure(await ask()), {
    errorCode: 'CONTENT_FILTERED',
    retryable: false,
    usage: { inputTokens: 9, costUsd: 0.5, estimated: false },
  });
});

t.test('An answer that ended with an error is a failure that is charged', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: 'So far', finishReason: 'error', usage: { promptTokens: 9 } }));
  t.match(toFailure(await ask()), { errorCode: 'PROVIDER_UNAVAILABLE', retryable: true, usage: { inputTokens: 9 } });
});

t.test('Consecutive calls share their connections', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (let call = 0; call < 20; call += 1) t.ok((await ask({ prompt: `Call number ${call}` })).ok);
  t.equal(server.requests.length, 20);
  // undici reuses a connection only after the turn of the event loop in which its answer ended.
  t.ok(server.connections() <= 2, `${server.connections()} connections`);
});

t.test('Two hundred concurrent calls run at the same time', async (t) => {
  const { server, ask } = await startTestAi(t);
  let open = () => {};
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  server.answer(async (_, index) => {
    if (index === 199) open();
    await all;
    return {};
  });
  const outcomes = await Promise.all(Array.from({ length: 200 }, (_, at) => ask({ prompt: `Question number ${at}` })));
  t.strictSame(
    outcomes.map((outcome) => outcome.ok && outcome.text),
    Array.from({ length: 200 }, (_, at) => `Answer to: Question number ${at}`),
  );
});
