import t from 'tap';
import type { AiRequest } from '../../src/lib/ai/request.ts';
import { buildAiRequest, createTestAi, startTestAi, toFailure } from '../support/ai-client.ts';

/** A request for a stream, and what has arrived so far. */
function streamed(request: Partial<AiRequest> = {}) {
  const pieces: string[] = [];
  return { pieces, request: { ...request, onText: (delta: string) => void pieces.push(delta) } };
}

const counted = { promptTokens: 12, completionTokens: 34 };

t.test('A stream passes its text on as it arrives and has the same outcome at its end', async (t) => {
  const { server, ask } = await startTestAi(t, { apiKey: 'operator-key-1' });
  server.answer(() => ({ text: 'Titan, Rhea and Iapetus.', model: 'model-0613', usage: { ...counted, cost: 0.5 } }));
  const { pieces, request } = streamed({ model: 'maker/model-1', maxTokens: 321, system: 'Be brief.' });
  const { durationMs, ...outcome } = await ask(request);
  t.strictSame(outcome, {
    ok: true,
    text: 'Titan, Rhea and Iapetus.',
    usage: {
      model: 'model-0613',
      provider: 'default',
      inputTokens: 12,
      outputTokens: 34,
      estimated: false,
      costUsd: 0.5,
    },
  });
  t.strictSame(pieces, ['Titan, ', 'Rhea ', 'and ', 'Iapetus.']);
  t.type(durationMs, 'number');
  t.strictSame(server.requests[0]?.body, {
    model: 'maker/model-1',
    max_tokens: 321,
    temperature: 0.7,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: buildAiRequest().prompt },
    ],
    stream: true,
    stream_options: { include_usage: true },
  });
  t.equal(server.requests[0]?.headers.authorization, 'Bearer operator-key-1');
});

t.test('The first text arrives before the answer is complete', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: 'First second', cut: { after: 1, by: 'stall' } }));
  const stop = new AbortController();
  const first = new Promise<string>((resolve) => {
    const outcome = ask({ signal: stop.signal, onText: resolve });
    t.teardown(() => outcome);
  });
  t.equal(await first, 'First ');
  stop.abort();
  await server.requests[0]?.hungUp;
});

t.test('System instructions are sent above the prompt, also without a stream, and are counted', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ usage: null }));
  const { usage: without } = await ask();
  const { usage } = await ask({ system: 'Answer in one short sentence, please.' });
  t.match(server.requests[1]?.body.messages, [{ role: 'system' }, { role: 'user' }]);
  t.ok((usage?.inputTokens ?? 0) > (without?.inputTokens ?? 0));
});

t.test('A model without a system role gets the instructions before the prompt, from then on at once', async (t) => {
  for (const message of [
    'System role not supported',
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    'Developer instruction is not enabled for models/gemma-3-27b-it',
  ]) {
    const { server, ask } = await startTestAi(t);
    server.answer(({ body }) =>
      body.messages[0]?.role === 'system' ? { status: 400, body: { error: { message } } } : {},
    );
    for (const requests of [2, 3]) {
      t.ok((await ask({ system: 'Be brief.', prompt: 'Name a moon.' })).ok, message);
      t.equal(server.requests.length, requests);
      t.strictSame(server.requests.at(-1)?.body.messages, [{ role: 'user', content: 'Be brief.\n\nName a moon.' }]);
    }
  }
});

t.test('Deltas split no character, contain nothing that PostgreSQL refuses, and together are the text', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const text of ['a😀b\u0000c', '😀😀', 'x\uD83D', '\uDE00y', 'a\uD83D\u0000\uDE00']) {
    server.answer(() => ({ text, pieces: text.split('') }));
    const { pieces, request } = streamed();
    const outcome = await ask(request);
    t.equal(outcome.ok && outcome.text, pieces.join(''), JSON.stringify(text));
    t.ok(pieces.every((piece) => piece.isWellFormed() && !piece.includes('\u0000')));
  }
  const text = `${'x'.repeat(1024 * 1024 - 1)}😀`;
  server.answer(() => ({ text, pieces: [text.slice(0, 600_000), text.slice(600_000)] }));
  const { pieces, request } = streamed();
  t.match(await ask(request), { ok: true, text: 'x'.repeat(1024 * 1024 - 1) });
  t.equal(pieces.join('').length, 1024 * 1024 - 1, 'no more of it than is kept');
});

t.test('A stream without usage is estimated', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: 'Titan is the largest moon of Saturn.', usage: null }));
  t.match(await ask(streamed().request), { ok: true, usage: { inputTokens: 8, outputTokens: 8, estimated: true } });
});

t.test('A service without stream_options is asked without them, from then on at once', async (t) => {
  for (const [status, message] of [
    [400, 'Unrecognized request argument supplied: stream_options'],
    [422, 'stream_options: Extra inputs are not permitted'],
  ] as const) {
    const { server, ask } = await startTestAi(t);
    server.answer(({ body }) => (body.stream_options ? { status, body: { error: { message } } } : { text: 'Titan' }));
    for (const requests of [2, 3]) {
      const { pieces, request } = streamed();
      t.match(await ask(request), { ok: true, text: 'Titan', usage: { estimated: true } });
      t.strictSame([pieces, server.requests.length], [['Titan'], requests]);
    }
  }
});

t.test('A service that does not stream although a stream was requested is understood', async (t) => {
  const { server, ask } = await startTestAi(t);
  const choices = [{ message: { role: 'assistant', content: 'Titan' }, finish_reason: 'stop' }];
  server.answer(() => ({
    body: { model: 'm-1', choices, usage: { prompt_tokens: 12, completion_tokens: 34 } },
  }));
  const { pieces, request } = streamed();
  t.match(await ask(request), { ok: true, text: 'Titan', usage: { model: 'm-1', inputTokens: 12, estimated: false } });
  t.strictSame(pieces, ['Titan']);
  for (const body of ['null', '{"choices": 7}', '<html>', '{"error": {"message": "Nothing today."}}']) {
    server.answer(() => ({ body }));
    t.match(toFailure(await ask(streamed().request)), { errorCode: 'PROVIDER_UNAVAILABLE', retryable: true }, body);
  }
});

t.test('A refused stream is reported like any refusal and is free', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ status: 429, body: { error: { message: 'Slow down.' } }, headers: { 'retry-after': '7' } }));
  const { pieces, request } = streamed();
  t.match(toFailure(await ask(request)), { errorCode: 'RATE_LIMIT_EXCEEDED', retryAfterMs: 7000, usage: null });
  t.strictSame(pieces, []);
});

t.test('A stream that breaks off is a failure that is charged what arrived', async (t) => {
  const { server, ask } = await startTestAi(t);
  const text = 'Titan is the largest moon of Saturn. Rhea is the next one.';
  for (const [by, errorCode] of [
    ['reset', 'PROVIDER_UNAVAILABLE'],
    ['end', 'PROVIDER_UNAVAILABLE'],
  ] as const) {
    server.answer(() => ({ text, cut: { after: 7, by } }));
    const { pieces, request } = streamed();
    t.match(
      toFailure(await ask(request)),
      { errorCode, usage: { inputTokens: 8, outputTokens: 8, estimated: true } },
      by,
    );
    t.equal(pieces.join(''), 'Titan is the largest moon of Saturn. ');
  }
});

t.test('An error in the middle of a stream has the code of its status or its words', async (t) => {
  const { server, ask } = await startTestAi(t);
  const secret = 'sk-operator-key-1';
  for (const [error, errorCode] of [
    [{ code: 502, message: 'Upstream is gone.' }, 'PROVIDER_UNAVAILABLE'],
    [{ code: 429, message: 'Slow down.' }, 'RATE_LIMIT_EXCEEDED'],
    [{ message: 'Overloaded', type: 'overloaded_error' }, 'PROVIDER_UNAVAILABLE'],
    [{ message: 'No.', type: 'rate_limit_error' }, 'RATE_LIMIT_EXCEEDED'],
    [{ message: 'No.', code: 'insufficient_quota' }, 'QUOTA_EXCEEDED'],
    [{ message: 'No.', code: 'content_filter' }, 'CONTENT_FILTERED'],
    [{ message: `Something about ${secret}.` }, 'PROVIDER_UNAVAILABLE'],
  ] as const) {
    for (const [after, usage] of [
      [0, null],
      [2, { outputTokens: 2, estimated: true }],
    ] as const) {
      server.answer(() => ({ text: 'Titan is', cut: { after, by: { error } } }));
      const { message, ...rest } = toFailure(await ask(streamed().request));
      t.match(rest, { errorCode, usage }, `${JSON.stringify(error)} after ${after}`);
      t.notMatch(message, secret);
    }
  }
});

t.test('The timeout and an abort end a stalled stream in any phase', async (t) => {
  const { server, ask } = await startTestAi(t, { timeoutMs: 400 });
  await ask();
  for (const [answer, outputTokens] of [
    [{ hang: 'head' }, 0],
    [{ hang: 'body' }, 0],
    [{ text: 'Titan is large', cut: { after: 2, by: 'stall' } }, 2],
  ] as const) {
    server.answer(() => answer);
    const late = toFailure(await ask(streamed().request));
    const usage = { inputTokens: 8, outputTokens, estimated: true };
    t.match(late, { errorCode: 'TIMEOUT', retryable: true, usage }, JSON.stringify(answer));
    const abort = new AbortController();
    server.answer(() => {
      setTimeout(() => abort.abort(), 50);
      return answer;
    });
    const stopped = toFailure(await ask(streamed({ signal: abort.signal }).request));
    t.match(stopped, { errorCode: 'INTERRUPTED', usage: { ...usage, outputTokens: Number } }, JSON.stringify(answer));
    await server.requests.at(-1)?.hungUp;
  }
});

t.test('A stream aborted before it was sent makes no request and is free', async (t) => {
  const { server, ask } = await startTestAi(t);
  const abort = new AbortController();
  const asked = ask(streamed({ signal: abort.signal }).request);
  abort.abort();
  t.match(toFailure(await asked), { errorCode: 'INTERRUPTED', usage: null });
  t.equal(server.requests.length, 0);
});

t.test('A stream above 16 MiB is refused', async (t) => {
  const { server, ask } = await startTestAi(t, { timeoutMs: 20_000 });
  const text = 'x'.repeat(17 * 1024 * 1024);
  server.answer(() => ({ text, pieces: [text.slice(0, 8_000_000), text.slice(8_000_000)] }));
  t.match(toFailure(await ask(streamed().request)), { errorCode: 'PROVIDER_ERROR', message: /16 MiB/ });
});

t.test('A stream that the content filter stopped is a failure that is charged', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: 'So far', finishReason: 'content_filter', usage: counted }));
  t.match(toFailure(await ask(streamed().request)), { errorCode: 'CONTENT_FILTERED', usage: { outputTokens: 34 } });
});

t.test('The offline model streams its words', async (t) => {
  const { pieces, request } = streamed();
  const outcome = await createTestAi(t).ask(buildAiRequest(request));
  t.ok(pieces.length > 20);
  t.equal(outcome.ok && outcome.text, pieces.join(''));
});

t.test('A stream leaves no listener, no rejection and no console output behind', async (t) => {
  const { server, ask } = await startTestAi(t);
  const words: unknown[] = [];
  const { error, warn } = console;
  Object.assign(console, { error: (...given: unknown[]) => words.push(given), warn: console.error });
  const rejected = (reason: unknown) => words.push(reason);
  process.on('unhandledRejection', rejected);
  t.teardown(() => {
    Object.assign(console, { error, warn });
    process.off('unhandledRejection', rejected);
  });
  for (const answer of [
    {},
    { status: 500 },
    { text: 'a b', cut: { after: 1, by: 'reset' } },
    { reset: true },
  ] as const) {
    server.answer(() => answer);
    await ask(streamed().request);
  }
  // Unhandled rejections are reported at the end of a turn.
  await new Promise(setImmediate);
  t.strictSame(words, []);
});
