import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import t from 'tap';
import { startTestAi, toFailure } from '../support/ai-client.ts';

const text = 'The model is down.';

t.test('An error inside a 200 has the code of its status or of its words, and is free', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const [error, errorCode, retryable] of [
    [{ code: 502 }, 'PROVIDER_UNAVAILABLE', true],
    [{ code: '529' }, 'PROVIDER_UNAVAILABLE', true],
    [{ code: 429 }, 'RATE_LIMIT_EXCEEDED', true],
    [{ code: 408 }, 'TIMEOUT', true],
    [{ code: 401 }, 'AUTHENTICATION_FAILED', false],
    [{ status: 403 }, 'AUTHENTICATION_FAILED', false],
    [{ code: 402 }, 'QUOTA_EXCEEDED', false],
    [{ code: 400 }, 'INVALID_REQUEST', false],
    [{ code: 400, type: 'content_filter' }, 'CONTENT_FILTERED', false],
    [{ code: 'rate_limit_exceeded', type: 'tokens' }, 'RATE_LIMIT_EXCEEDED', true],
    [{ code: 'RESOURCE_EXHAUSTED' }, 'RATE_LIMIT_EXCEEDED', true],
    [{ type: 'overloaded_error' }, 'PROVIDER_UNAVAILABLE', true],
    [{ code: 'context_length_exceeded', type: 'invalid_request_error' }, 'INVALID_REQUEST', false],
    [{ code: 'invalid_api_key' }, 'AUTHENTICATION_FAILED', false],
    [{ code: 'insufficient_quota' }, 'QUOTA_EXCEEDED', false],
    [{ code: 'DEADLINE_EXCEEDED' }, 'TIMEOUT', true],
    [{ code: 200 }, 'PROVIDER_UNAVAILABLE', true],
    [{ code: null }, 'PROVIDER_UNAVAILABLE', true],
    [{}, 'PROVIDER_UNAVAILABLE', true],
  ] as const) {
    const reported = { ...error, message: text };
    for (const body of [
      { error: reported },
      { error: reported, choices: [] },
      { choices: [{ error: reported }] },
      { choices: [{ error: reported, message: { content: '' }, finish_reason: 'error' }] },
      { ...reported, object: 'error' },
      [{ error: reported }],
    ]) {
      server.answer(() => ({ body, headers: { 'retry-after': '7' } }));
      for (const onText of [undefined, () => {}]) {
        const { message, ...rest } = toFailure(await ask({ onText }));
        const retryAfterMs = retryable ? 7000 : null;
        t.strictSame(rest, { errorCode, retryable, retryAfterMs, usage: null }, JSON.stringify(body));
        t.match(message, /: The model is down\.$/);
      }
    }
  }
  server.answer(() => ({ body: { error: text } }));
  t.match(toFailure(await ask()), { errorCode: 'PROVIDER_UNAVAILABLE', message: /: The model is down\.$/ });
});

t.test('A rate limit inside a 200 is one, although its words name billing or quotas', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const [error, errorCode] of [
    [{ message: 'Rate limit reached. Upgrade at https://console.groq.com/settings/billing' }, 'RATE_LIMIT_EXCEEDED'],
    [{ message: 'Rate limit reached, see your billing page', code: 429 }, 'RATE_LIMIT_EXCEEDED'],
    [{ message: 'Quota exceeded for requests per minute: check your billing.' }, 'RATE_LIMIT_EXCEEDED'],
    [{ message: 'Too many requests', type: 'throttling' }, 'RATE_LIMIT_EXCEEDED'],
    [{ message: 'You exceeded your current quota.', code: 'insufficient_quota' }, 'QUOTA_EXCEEDED'],
    [{ message: 'Your credit balance is too low.' }, 'QUOTA_EXCEEDED'],
    [{ message: 'Enable billing.' }, 'QUOTA_EXCEEDED'],
  ] as const) {
    server.answer(() => ({ body: { error } }));
    t.equal(toFailure(await ask()).errorCode, errorCode, error.message);
  }
});

t.test('An error of one choice ends a stream and is charged what arrived', async (t) => {
  const { server, ask } = await startTestAi(t);
  const choice = { error: { code: 429, message: 'Slow down.' }, delta: { content: '' }, finish_reason: 'error' };
  server.answer(() => ({ text: 'Titan is', cut: { after: 2, by: { choices: [choice] } } }));
  t.match(toFailure(await ask({ onText: () => {} })), {
    errorCode: 'RATE_LIMIT_EXCEEDED',
    usage: { outputTokens: 2, estimated: true },
  });
});

const ENCODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
};

t.test('A body that is compressed although the request forbids it is read, within 16 MiB', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const [encoding, encode] of Object.entries(ENCODERS)) {
    const answering = (status: number, body: object | string) =>
      server.answer(() => ({
        status,
        body: new Uint8Array(encode(typeof body === 'string' ? body : JSON.stringify(body))),
        headers: { 'content-encoding': encoding },
      }));
    const answer = { choices: [{ message: { content: 'Titan 🪐' }, finish_reason: 'stop' }] };
    answering(200, answer);
    t.match(await ask(), { ok: true, text: 'Titan 🪐' }, encoding);
    const pieces: string[] = [];
    t.match(await ask({ onText: (piece) => pieces.push(piece) }), { ok: true, text: 'Titan 🪐' }, encoding);
    t.strictSame(pieces, ['Titan 🪐']);
    answering(400, { error: { message: 'No such role.' } });
    t.match(toFailure(await ask()), { errorCode: 'INVALID_REQUEST', message: /: No such role\.$/ }, encoding);
    answering(200, 'x'.repeat(17 * 1024 * 1024));
    t.match(toFailure(await ask()), { errorCode: 'PROVIDER_ERROR', message: /16 MiB/ }, encoding);
  }
});

t.test('No byte of a compressed body that cannot be read is shown', async (t) => {
  const { server, ask } = await startTestAi(t);
  const body = gzipSync(JSON.stringify({ error: { message: 'No such model.' } }));
  for (const [headers, sent] of [
    [{}, body],
    [{ 'content-encoding': 'gzip' }, body.subarray(0, 20)],
    [{ 'content-encoding': 'gzip' }, Buffer.from('plain')],
    [{ 'content-encoding': 'compress' }, body],
  ] as [Record<string, string>, Buffer][]) {
    server.answer(() => ({ body: new Uint8Array(sent), headers }));
    t.match(toFailure(await ask()), {
      errorCode: 'PROVIDER_UNAVAILABLE',
      message: 'The answer of the provider could not be used.',
    });
    server.answer(() => ({ status: 400, body: new Uint8Array(sent), headers }));
    t.equal(toFailure(await ask()).message, 'The provider refused the request (400).');
  }
});
