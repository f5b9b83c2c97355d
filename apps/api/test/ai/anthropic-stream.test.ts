import t from 'tap';
import { buildAiRequest, createTestAi, toFailure } from '../support/ai-client.ts';
import { buildStartEvents, buildTextDelta, startAnthropicServer } from '../support/servers/anthropic-server.ts';

const model = 'anthropic/claude-sonnet-4-5';

async function asking(t: Parameters<typeof startAnthropicServer>[0], timeoutMs = 5000) {
  const anthropic = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url, timeoutMs });
  const pieces: string[] = [];
  const onText = (piece: string) => void pieces.push(piece);
  return { anthropic, pieces, ask: () => ai.ask(buildAiRequest({ model, system: 'Be brief.', onText })) };
}

t.test('A stream of the Messages API passes its text on as it arrives and has the same outcome', async (t) => {
  const { anthropic, pieces, ask } = await asking(t);
  const { durationMs: _, ...outcome } = await ask();
  t.match(anthropic.requests[0]?.body, { stream: true, system: [{ type: 'text', text: 'Be brief.' }] });
  t.strictSame(outcome, {
    ok: true,
    text: 'Titan, Rhea, Iapetus',
    usage: {
      model: 'claude-sonnet-4-5-20250929',
      provider: 'anthropic',
      inputTokens: 1000,
      outputTokens: 100,
      estimated: false,
      costUsd: 0.0045,
    },
  });
  t.strictSame(pieces, ['Titan, ', 'Rhea, ', 'Iapetus']);
});

t.test('A stream that breaks off is charged what arrived', async (t) => {
  const events = [...buildStartEvents('claude-x'), buildTextDelta('Titan is the largest moon of Saturn.')];
  for (const then of ['reset', 'end', 'stall'] as const) {
    const { anthropic, pieces, ask } = await asking(t, then === 'stall' ? 400 : 5000);
    anthropic.answer({ events, then });
    const { errorCode, usage } = toFailure(await ask());
    t.equal(errorCode, then === 'stall' ? 'TIMEOUT' : 'PROVIDER_UNAVAILABLE', then);
    t.match(usage, { inputTokens: Number, outputTokens: 8, estimated: true }, then);
    t.strictSame(pieces, ['Titan is the largest moon of Saturn.']);
  }
});

t.test('An error event has the code of its type, and is free if nothing was written', async (t) => {
  const { anthropic, ask } = await asking(t);
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  for (const [events, usage] of [
    [[error], null],
    [[...buildStartEvents('claude-x'), buildTextDelta('Titan is'), error], { outputTokens: 2, estimated: true }],
  ] as const) {
    anthropic.answer({ events: [...events] });
    t.match(toFailure(await ask()), { errorCode: 'PROVIDER_UNAVAILABLE', retryable: true, usage });
  }
});

t.test('A refused stream keeps its status', async (t) => {
  const { anthropic, ask } = await asking(t);
  const body = { type: 'error', error: { type: 'rate_limit_error', message: 'Too many.' } };
  anthropic.answer({ status: 429, body });
  t.match(toFailure(await ask()), { errorCode: 'RATE_LIMIT_EXCEEDED', usage: null });
});
