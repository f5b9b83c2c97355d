import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { buildAiRequest, createTestAi, startTestAi, toFailure } from '../support/ai-client.ts';

const text = 'Titan, Rhea and Iapetus. '.repeat(40);
const spent = { inputTokens: 8, outputTokens: 0, estimated: true };

t.test('The timeout ends a call to a provider that is silent, only begins, or drips', async (t) => {
  const { server, ask } = await startTestAi(t, { timeoutMs: 400 });
  await ask();
  for (const answer of [
    { hang: 'head' },
    { hang: 'body' },
    { text, drip: { bytes: 1, everyMs: 20 } },
    { delayMs: 60_000 },
  ] as const) {
    server.answer(() => answer);
    const outcome = await ask();
    const { usage, ...rest } = toFailure(outcome);
    t.strictSame(rest, {
      errorCode: 'TIMEOUT',
      message: 'The provider did not answer within 0.4 s.',
      retryable: true,
      retryAfterMs: null,
    });
    t.match(usage, spent, 'the input has left, and may be billed');
    t.ok(outcome.durationMs >= 395 && outcome.durationMs < 3000, `${outcome.durationMs} ms`);
  }
});

t.test('The timeout of a request ends its call earlier, and none ends it later than the configured one', async (t) => {
  const { server, ask } = await startTestAi(t, { timeoutMs: 600 });
  server.answer(() => ({ hang: 'head' }));
  for (const [request, seconds] of [
    [{ timeoutMs: 200 }, '0.2'],
    [{ timeoutMs: 60_000 }, '0.6'],
    [{}, '0.6'],
  ] as const) {
    const failure = toFailure(await ask(request));
    t.match(failure, { errorCode: 'TIMEOUT', message: `The provider did not answer within ${seconds} s.` });
  }
});

t.test('A provider that drips within the timeout is read to the end', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text, drip: { bytes: 200, everyMs: 10 } }));
  t.match(await ask(), { ok: true, text });
});

t.test('A refusal whose body never ends keeps its status', async (t) => {
  const { server, ask } = await startTestAi(t, { timeoutMs: 400 });
  await ask();
  server.answer(() => ({ status: 429, hang: 'body', headers: { 'retry-after': '3' } }));
  t.match(toFailure(await ask()), { errorCode: 'RATE_LIMIT_EXCEEDED', retryAfterMs: 3000, usage: null });
});

t.test('The timeout ends a call without a connection, which is free', async (t) => {
  const sockets: Socket[] = [];
  const mute = createServer((socket) => sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await new Promise((resolve) => mute.once('listening', resolve));
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
  // Accepts connections and never answers the TLS handshake.
  const baseUrl = `https://127.0.0.1:${(mute.address() as { port: number }).port}/v1`;
  const outcome = await createTestAi(t, { baseUrl, timeoutMs: 250 }).ask(buildAiRequest());
  t.match(toFailure(outcome), { errorCode: 'TIMEOUT', retryable: true, usage: null });
  t.ok(outcome.durationMs < 3000, `${outcome.durationMs} ms`);
});

t.test('An aborted run ends at once, in any phase', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const answer of [{ hang: 'head' }, { hang: 'body' }, { text, drip: { bytes: 1, everyMs: 20 } }] as const) {
    const abort = new AbortController();
    server.answer(() => {
      setTimeout(() => abort.abort(), 50);
      return answer;
    });
    const outcome = await ask({ signal: abort.signal });
    const { usage, ...rest } = toFailure(outcome);
    t.strictSame(rest, {
      errorCode: 'INTERRUPTED',
      message: 'The run was aborted.',
      retryable: true,
      retryAfterMs: null,
    });
    t.match(usage, spent);
    t.ok(outcome.durationMs < 3000, `${outcome.durationMs} ms`);
  }
});

t.test('A run aborted before it was sent makes no request and is free', async (t) => {
  const { server, ask } = await startTestAi(t);
  t.match(toFailure(await ask({ signal: AbortSignal.abort() })), { errorCode: 'INTERRUPTED', usage: null });
  const abort = new AbortController();
  const asked = ask({ signal: abort.signal });
  abort.abort();
  t.match(toFailure(await asked), { errorCode: 'INTERRUPTED', usage: null });
  t.equal(server.requests.length, 0);
});

t.test('A call leaves neither a timer nor a listener behind', async (t) => {
  const { ask } = await startTestAi(t, { timeoutMs: 3_600_000 });
  const abort = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = abort.signal;
  abort.signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners += 1;
    addEventListener.apply(abort.signal, given);
  };
  abort.signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners -= 1;
    removeEventListener.apply(abort.signal, given);
  };
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  for (let call = 0; call < 5; call += 1) t.ok((await ask({ signal: abort.signal })).ok);
  t.equal(listeners, 0);
  t.ok(timers() <= before + 1, 'one for the idle connection at most');
});

t.test('An answer above 16 MiB is refused and not collected', async (t) => {
  const { server, ask } = await startTestAi(t, { timeoutMs: 10_000 });
  const body = `{"choices": "${'x'.repeat(16 * 1024 * 1024)}"}`;
  for (const answer of [{ body }, { body, drip: { bytes: 4 * 1024 * 1024, everyMs: 1 } }]) {
    server.answer(() => answer);
    t.match(toFailure(await ask()), { errorCode: 'PROVIDER_ERROR', retryable: false, message: /16 MiB/, usage: spent });
  }
  server.answer(() => ({ body: { choices: [{ message: { content: 'y'.repeat(15 * 1024 * 1024) } }] } }));
  t.ok((await ask()).ok, 'what is below is taken');
});

t.test('Nothing is decompressed: compressed bytes are an unreadable body', async (t) => {
  const { gzipSync } = await import('node:zlib');
  const { server, ask } = await startTestAi(t);
  const packed = gzipSync(JSON.stringify({ choices: [{ message: { content: 'z'.repeat(50_000_000) } }] }));
  server.answer(() => ({ body: packed, headers: { 'content-encoding': 'gzip' } }));
  const before = process.memoryUsage().rss;
  t.match(toFailure(await ask()), { errorCode: 'PROVIDER_ERROR', usage: spent });
  t.equal(server.requests[0]?.headers['accept-encoding'], 'identity');
  t.ok(process.memoryUsage().rss - before < 40_000_000);
});

t.test('Close ends running calls at once and refuses new ones', async (t) => {
  const { server, ai, ask } = await startTestAi(t, { timeoutMs: 60_000 });
  t.ok((await ask()).ok, 'an idle connection is open');
  const arrived = new Promise<void>((resolve) => {
    server.answer(() => {
      resolve();
      return { hang: 'head' };
    });
  });
  const running = ask();
  await arrived;
  const startedAt = performance.now();
  await ai.close();
  t.match(toFailure(await running), { errorCode: 'INTERRUPTED', retryable: true, usage: spent });
  t.ok(performance.now() - startedAt < 3000);
  t.match(toFailure(await ask()), { errorCode: 'INTERRUPTED', usage: null });
  await ai.close();
});
