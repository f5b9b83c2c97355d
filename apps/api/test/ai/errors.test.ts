import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { buildAiRequest, createTestAi, startTestAi, toFailure } from '../support/ai-client.ts';
import { startAiServer } from '../support/servers/ai-server.ts';

const refusal = (message: string, code: string | null = null) => ({ error: { message, type: 'error', code } });

const ROWS: [status: number, errorCode: string, retryable: boolean, body?: object | string][] = [
  [400, 'INVALID_REQUEST', false],
  [401, 'AUTHENTICATION_FAILED', false],
  [402, 'QUOTA_EXCEEDED', false],
  [403, 'AUTHENTICATION_FAILED', false],
  [404, 'INVALID_REQUEST', false],
  [408, 'TIMEOUT', true],
  [409, 'INVALID_REQUEST', false],
  [413, 'INVALID_REQUEST', false],
  [422, 'INVALID_REQUEST', false],
  [429, 'RATE_LIMIT_EXCEEDED', true],
  [500, 'PROVIDER_UNAVAILABLE', true],
  [502, 'PROVIDER_UNAVAILABLE', true],
  [503, 'PROVIDER_UNAVAILABLE', true],
  [504, 'PROVIDER_UNAVAILABLE', true],
  [529, 'PROVIDER_UNAVAILABLE', true],
  [429, 'QUOTA_EXCEEDED', false, refusal('You exceeded your current quota.', 'insufficient_quota')],
  [429, 'RATE_LIMIT_EXCEEDED', true, refusal('Check your plan and billing details.')],
  [
    429,
    'RATE_LIMIT_EXCEEDED',
    true,
    refusal(
      'Rate limit reached for model `x` on tokens per day (TPD): Limit 100000. Please try again in 7m12s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
      'rate_limit_exceeded',
    ),
  ],
  [
    429,
    'RATE_LIMIT_EXCEEDED',
    true,
    refusal('You exceeded your current quota, please check your plan and billing details.'),
  ],
  [429, 'RATE_LIMIT_EXCEEDED', true, refusal('Quota exceeded for requests per minute.', 'RESOURCE_EXHAUSTED')],
  [
    429,
    'RATE_LIMIT_EXCEEDED',
    true,
    refusal('Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests.'),
  ],
  [
    429,
    'RATE_LIMIT_EXCEEDED',
    true,
    refusal('Have exceeded the token rate limit. See https://aka.ms/oai/quotaincrease'),
  ],
  [429, 'RATE_LIMIT_EXCEEDED', true, refusal('You are using a Trial key, which is limited to 1000 API calls / month.')],
  [413, 'INVALID_REQUEST', false, refusal('Request too large. Upgrade at console.groq.com/settings/billing')],
  [
    429,
    'QUOTA_EXCEEDED',
    false,
    refusal('Your account is not active, please check your billing details.', 'billing_not_active'),
  ],
  [429, 'QUOTA_EXCEEDED', false, refusal('Insufficient balance.')],
  [429, 'QUOTA_EXCEEDED', false, refusal('Check your account balance.', 'exceeded_current_quota_error')],
  [
    429,
    'QUOTA_EXCEEDED',
    false,
    refusal('Your team has either used all available credits or reached its monthly spending limit.'),
  ],
  [403, 'QUOTA_EXCEEDED', false, refusal("Your newly created team doesn't have any credits or licenses yet.")],
  [403, 'QUOTA_EXCEEDED', false, refusal('This API method requires billing to be enabled.')],
  [400, 'QUOTA_EXCEEDED', false, refusal('Billing hard limit has been reached', 'billing_hard_limit_reached')],
  [412, 'QUOTA_EXCEEDED', false, refusal('Account x is suspended, possibly due to a failure to pay past invoices')],
  [400, 'QUOTA_EXCEEDED', false, refusal('Your credit balance is too low to access the API.')],
  [400, 'CONTENT_FILTERED', false, refusal('The response was filtered.', 'content_filter')],
  [400, 'CONTENT_FILTERED', false, refusal('Rejected.', 'content_policy_violation')],
  [403, 'CONTENT_FILTERED', false, refusal('Your input was flagged by moderation.')],
  [422, 'CONTENT_FILTERED', false, 'It violates our content policy.'],
  [302, 'PROVIDER_ERROR', false],
];

t.test('Each status of a provider has its error code, and a clear refusal is free', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const [status, errorCode, retryable, body] of ROWS) {
    server.answer(() => ({ status, body: body ?? refusal('No.') }));
    const { message, ...rest } = toFailure(await ask());
    t.strictSame(rest, { errorCode, retryable, retryAfterMs: null, usage: null }, `${status} ${JSON.stringify(body)}`);
    t.match(message, `(${status})`);
  }
  t.equal(server.requests.length, ROWS.length, 'each is asked once: repeats are not the business of a call');
});

t.test('A redirect is not followed', async (t) => {
  const { server, ask } = await startTestAi(t);
  const elsewhere = await startAiServer();
  t.after(() => elsewhere.close());
  for (const status of [301, 302, 307, 308]) {
    server.answer(() => ({ status, headers: { location: `${elsewhere.url}/chat/completions` } }));
    t.match(toFailure(await ask()), { errorCode: 'PROVIDER_ERROR', retryable: false });
  }
  t.equal(elsewhere.requests.length, 0);
});

t.test('Retry-After is returned in milliseconds, a day at most', async (t) => {
  const { server, ask } = await startTestAi(t);
  const date = 'Fri, 20 Nov 2026 10:00:00 GMT';
  for (const [headers, retryAfterMs] of [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '7200' }, 7_200_000],
    [{ 'retry-after': '86400' }, 86_400_000],
    [{ 'retry-after': '604800' }, 86_400_000],
    [{ 'retry-after': '1m30s' }, 90_000],
    [{ 'x-ratelimit-reset': '30' }, 30_000],
    [{ date, 'x-ratelimit-reset': '1795168890000' }, 90_000],
    [{ date, 'x-ratelimit-reset': '1795168890' }, 90_000],
    [{ 'x-ratelimit-reset-tokens': '6m0.5s', 'x-ratelimit-remaining-tokens': '0' }, 360_500],
    [{ 'x-ratelimit-reset-tokens': '6m0.5s', 'x-ratelimit-remaining-tokens': '9' }, null],
    [{ date, 'retry-after': 'Fri, 20 Nov 2026 10:01:30 GMT' }, 90_000],
    [{ date, 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' }, 82_800_000],
    [{ date, 'retry-after': 'Mon, 23 Nov 2026 10:00:00 GMT' }, 86_400_000],
    [{ date, 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' }, 0],
    [{ 'retry-after': '9', 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, null],
    [{}, null],
  ] as [Record<string, string>, number | null][]) {
    for (const status of [429, 503]) {
      server.answer(() => ({ status, headers }));
      t.equal(toFailure(await ask()).retryAfterMs, retryAfterMs, `${status} ${JSON.stringify(headers)}`);
    }
  }
  server.answer(() => ({ status: 400, headers: { 'retry-after': '7' } }));
  t.equal(toFailure(await ask()).retryAfterMs, null, 'an error that a repeat cannot fix names no wait');
});

t.test('A provider that cannot be reached is unavailable, and the call is free', async (t) => {
  const gone = await startAiServer();
  await gone.close();
  const silent = createServer((socket) => socket.end('not TLS')).listen(0, '127.0.0.1');
  t.after(async () => silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  const plain = `https://127.0.0.1:${(silent.address() as { port: number }).port}/v1`;
  for (const [baseUrl, reason] of [
    [gone.url, /ECONNREFUSED/],
    ['http://nowhere.invalid/v1', /ENOTFOUND|EAI_AGAIN/],
    [plain, /\w/],
  ] as const) {
    const { message, ...rest } = toFailure(await createTestAi(t, { baseUrl }).ask(buildAiRequest()));
    t.strictSame(rest, { errorCode: 'PROVIDER_UNAVAILABLE', retryable: true, retryAfterMs: null, usage: null });
    t.match(message, reason);
    t.notMatch(message, /127\.0\.0\.1|nowhere/, 'the address is the operator’s business');
  }
});

t.test('A connection that breaks after the request is unavailable, and the input may be billed', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const reset of [true, 20] as const) {
    server.answer(() => ({ reset }));
    t.match(toFailure(await ask({ model: 'gpt-4o-mini' })), {
      errorCode: 'PROVIDER_UNAVAILABLE',
      retryable: true,
      usage: { model: 'gpt-4o-mini', inputTokens: Number, outputTokens: 0, estimated: true, costUsd: Number },
    });
  }
  server.answer(() => ({}));
  t.ok((await ask()).ok, 'the next call is not harmed');
});

t.test('200 with what is not an answer is retried, and may have been billed', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const body of [
    '',
    '<html>Welcome</html>',
    '{"id": "chatcmpl-1", "choices": [{"mess',
    'null',
    '[]',
    { choices: [] },
    { choices: [{}] },
    { choices: 'none' },
    new Uint8Array([0xff, 0xfe, 0x00, 0x80]),
  ]) {
    server.answer(() => ({ body }));
    for (const onText of [undefined, () => {}]) {
      t.match(
        toFailure(await ask({ onText })),
        {
          errorCode: 'PROVIDER_UNAVAILABLE',
          message: 'The answer of the provider could not be used.',
          retryable: true,
          usage: { outputTokens: 0, estimated: true },
        },
        JSON.stringify(body),
      );
    }
  }
});

t.test("A message quotes the provider's own words in any of their forms", async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const [body, words] of [
    [{ error: { message: 'the message is odd' } }, ': the message is odd'],
    [{ error: 'model not loaded' }, ': model not loaded'],
    [{ message: 'bad input' }, ': bad input'],
    [{ detail: 'not found' }, ': not found'],
    [{ detail: [{ loc: ['body'], msg: 'field required', input: 'everything' }] }, ': field required'],
    [{ errors: [{ message: '' }, { message: 'in a list' }] }, ': in a list'],
    [{ error: { error: { message: 'nested' } } }, ': nested'],
    [{ error: { message: { detail: [{ type: 'missing', msg: 'in a message' }] } } }, ': in a message'],
    [{ error: { message: '{"error": {"message": "in a text"}}' } }, ': in a text'],
    [{ error: { message: 'Provider returned error', metadata: { raw: '{"message": "raw"}' } } }, ': raw'],
    [{ error: 'Bad Request', message: 'bad field', statusCode: 400 }, ': bad field'],
    [{ code: 'exhausted', error: 'a sentence' }, ': a sentence'],
    [{ detail: { error: { message: 'in a detail' } } }, ': in a detail'],
    [{ Message: 'in capitals' }, ': in capitals'],
    [{ error: {}, msg: 'beside' }, ': beside'],
    ['data: {"error": {"message": "as an event"}}\n\n', ': as an event'],
    ['"a JSON text"', ': a JSON text'],
    [[{ error: { message: 'in a list', status: 'INVALID_ARGUMENT' } }], ': in a list'],
    ['upstream connect error', ': upstream connect error'],
    ['<html><h1>Bad Request</h1></html>', '.'],
    ['\u001b[31mbad\u001b[0m', '.'],
    [gzipSync('bad'), '.'],
    ['', '.'],
    [{ surprise: { deep: true } }, '.'],
  ] as const) {
    server.answer(() => ({ status: 400, body }));
    t.equal(toFailure(await ask()).message, `The provider refused the request (400)${words}`);
  }
});

t.test('A refusal is read up to 64 KiB', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ status: 400, body: 'x'.repeat(200_000), drip: { bytes: 70_000, everyMs: 60_000 } }));
  t.match(toFailure(await ask()), { errorCode: 'INVALID_REQUEST' }, 'without the rest, which comes after the timeout');
});
