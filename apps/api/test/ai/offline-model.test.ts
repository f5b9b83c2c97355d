import t from 'tap';
import { buildAiRequest, createTestAi, toFailure } from '../support/ai-client.ts';

t.test('Without a provider the offline model answers, says so, and names the variables to set', async (t) => {
  for (const baseUrl of [null, 'offline']) {
    const outcome = await createTestAi(t, { baseUrl }).ask(buildAiRequest({ model: 'anthropic/claude-sonnet-4-5' }));
    t.match(outcome, { ok: true, usage: { model: 'offline', estimated: false, costUsd: 0 } });
    const text = outcome.ok ? outcome.text : '';
    t.match(text, /no AI provider is configured/i);
    for (const name of ['AI_BASE_URL', 'AI_API_KEY', 'ANTHROPIC_API_KEY']) t.match(text, name);
    t.ok(outcome.usage && outcome.usage.inputTokens > 0 && outcome.usage.outputTokens > 0);
  }
});

t.test('The same request has the same answer, a different request a different one', async (t) => {
  const [one, two] = [createTestAi(t), createTestAi(t)];
  const text = async (ai: typeof one, prompt: string) => {
    const outcome = await ai.ask(buildAiRequest({ prompt }));
    return outcome.ok ? outcome.text : '';
  };
  t.equal(await text(one, 'What is the time?'), await text(two, 'What is the time?'));
  t.not(await text(one, 'What is the time?'), await text(one, 'What is the weather like?'));
});

t.test('The offline model uses no network', async (t) => {
  const { fetch } = globalThis;
  t.after(async () => {
    globalThis.fetch = fetch;
  });
  globalThis.fetch = () => {
    throw new Error('the network was asked');
  };
  const before = process.getActiveResourcesInfo().filter((kind) => /TCP|DNS|GetAddrInfo/.test(kind)).length;
  const asked = createTestAi(t).ask(buildAiRequest());
  t.equal(process.getActiveResourcesInfo().filter((kind) => /TCP|DNS|GetAddrInfo/.test(kind)).length, before);
  t.ok((await asked).ok);
});

t.test('An offline answer is never longer than its token limit', async (t) => {
  const ai = createTestAi(t);
  for (const maxTokens of [1, 10, 40]) {
    const { usage } = await ai.ask(buildAiRequest({ maxTokens }));
    t.ok((usage?.outputTokens ?? 0) >= 1 && (usage?.outputTokens ?? 0) <= maxTokens, `${usage?.outputTokens}`);
  }
});

t.test('An offline answer contains nothing that PostgreSQL refuses', async (t) => {
  const outcome = await createTestAi(t).ask(
    buildAiRequest({ prompt: `a\u0000b \uD800 ${'😀'.repeat(300)}`, model: 'm\u0000' }),
  );
  t.ok(outcome.ok && outcome.text.isWellFormed() && !outcome.text.includes('\u0000'));
});

t.test('An aborted run has no offline answer', async (t) => {
  const outcome = await createTestAi(t).ask(buildAiRequest({ signal: AbortSignal.abort() }));
  t.match(toFailure(outcome), { errorCode: 'INTERRUPTED', message: 'The run was aborted.', usage: null });
});

t.test('A configured Anthropic key is used even if the other service is offline', async (t) => {
  const ai = createTestAi(t, {
    baseUrl: 'offline',
    anthropicApiKey: 'k1',
    anthropicBaseUrl: 'http://127.0.0.1:9',
    timeoutMs: 900,
  });
  t.match(await ai.ask(buildAiRequest({ model: 'gpt-4o-mini' })), { usage: { model: 'offline' } });
  t.equal((await ai.ask(buildAiRequest({ model: 'anthropic/claude-sonnet-4-5' }))).ok, false);
});
