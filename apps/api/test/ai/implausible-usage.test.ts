import t from 'tap';
import { buildAiRequest, createTestAi } from '../support/ai-client.ts';
import { startAiServer } from '../support/servers/ai-server.ts';

const INTEGER_MAX = 2 ** 31 - 1;
const MARGIN = 8192;

async function startLoggedAi(t: Parameters<typeof createTestAi>[0]) {
  const server = await startAiServer();
  t.after(() => server.close());
  const warnings: Record<string, unknown>[] = [];
  const log = { warn: (line: object) => void warnings.push(line as Record<string, unknown>) };
  const ai = createTestAi(t, { baseUrl: server.url }, log);
  return { server, warnings, ask: (request = {}) => ai.ask(buildAiRequest(request)) };
}

t.test('Tokens that a provider claims count up to what was sent and asked for, and a margin', async (t) => {
  const { server, warnings, ask } = await startLoggedAi(t);
  const prompt = 'Größe?';
  for (const claim of [INTEGER_MAX, 1e12, Number.MAX_SAFE_INTEGER, 1e300]) {
    server.answer(() => ({ usage: { promptTokens: claim, completionTokens: claim } }));
    for (const onText of [undefined, () => {}]) {
      const { usage } = await ask({ prompt, maxTokens: 1000, model: 'gpt-4o-mini', onText });
      t.match(usage, { inputTokens: 8 + MARGIN, outputTokens: 2000 + MARGIN, estimated: true });
      t.ok(usage && usage.costUsd > 0 && usage.costUsd < 0.01, `${usage?.costUsd}`);
      t.match(warnings.pop(), { claim: { inputTokens: claim, outputTokens: claim }, usage });
    }
  }
  server.answer(() => ({ usage: { promptTokens: 8 + MARGIN, completionTokens: 2000 + MARGIN } }));
  t.match(await ask({ prompt, maxTokens: 1000 }), { usage: { outputTokens: 2000 + MARGIN, estimated: false } });
  t.strictSame(warnings, []);
});

t.test('A text longer than what was asked for and large files are believed', async (t) => {
  const { server, warnings, ask } = await startLoggedAi(t);
  server.answer(() => ({ text: 'moon '.repeat(20_000), usage: { promptTokens: 9, completionTokens: 20_000 } }));
  t.match(await ask({ maxTokens: 10 }), { usage: { outputTokens: 20_000, estimated: false } });
  const attachments = [{ name: 'a.png', mediaType: 'image/png', data: Buffer.alloc(1000) }];
  server.answer(() => ({ usage: { promptTokens: 48_169, completionTokens: 9 } }));
  t.match(await ask({ attachments }), { usage: { inputTokens: 48_169, estimated: false } });
  t.strictSame(warnings, []);
});

t.test('Cached tokens are at most the input', async (t) => {
  const { server, ask } = await startLoggedAi(t);
  const choices = [{ message: { content: 'Titan' }, finish_reason: 'stop' }];
  const costs: (number | undefined)[] = [];
  for (const cached_tokens of [1000, INTEGER_MAX]) {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens } };
    server.answer(() => ({ body: { choices, usage } }));
    costs.push((await ask({ model: 'gpt-4o-mini' })).usage?.costUsd);
  }
  t.ok(costs[0]);
  t.equal(costs[0], costs[1]);
});

t.test('A cost that the tokens cannot have is replaced by the cost of the price list and logged', async (t) => {
  const { server, warnings, ask } = await startLoggedAi(t);
  for (const cost of [-1, 500, 1e300]) {
    server.answer(() => ({ usage: { promptTokens: 1000, completionTokens: 100, cost } }));
    t.match(await ask({ model: 'gpt-4o-mini' }), { usage: { costUsd: 0.00021, estimated: false } }, `${cost}`);
    t.match(warnings.pop(), { claim: { costUsd: cost } });
  }
  server.answer(() => ({ usage: { promptTokens: 1000, completionTokens: 100, cost: 9.5 } }));
  t.match(await ask(), { usage: { costUsd: 9.5 } });
  t.strictSame(warnings, []);
});
