import { type Ai, type AiOutcome, createAi } from '../../src/lib/ai/client.ts';
import type { AiRequest } from '../../src/lib/ai/request.ts';
import type { Config } from '../../src/lib/config/config.ts';
import { type AiServer, type AiServerOptions, startAiServer } from './servers/ai-server.ts';

interface Test {
  after: (work: () => Promise<void>) => void;
}

export const NO_PROVIDER: Config['ai'] = {
  baseUrl: null,
  apiKey: null,
  anthropicApiKey: null,
  anthropicBaseUrl: null,
  webTools: 'auto',
  timeoutMs: 5000,
};

/** Creates an AI client that closes with the test. Default: no provider. */
export function createTestAi(t: Test, settings: Partial<Config['ai']> = {}, log?: Parameters<typeof createAi>[1]): Ai {
  const ai = createAi({ ...NO_PROVIDER, ...settings }, log);
  t.after(() => ai.close());
  return ai;
}

/** Starts an AI server and a client of it, which close with the test. */
export async function startTestAi(
  t: Test,
  settings: Partial<Config['ai']> = {},
  options: AiServerOptions = {},
): Promise<{ server: AiServer; ai: Ai; ask: (request?: Partial<AiRequest>) => Promise<AiOutcome> }> {
  const server = await startAiServer(options);
  t.after(() => server.close());
  const ai = createTestAi(t, { baseUrl: server.url, ...settings });
  return { server, ai, ask: (request) => ai.ask(buildAiRequest(request)) };
}

export const buildAiRequest = (request: Partial<AiRequest> = {}): AiRequest => ({
  model: 'test-model',
  prompt: 'Name the three largest moons of Saturn.',
  maxTokens: 1024,
  temperature: 70,
  signal: new AbortController().signal,
  ...request,
});

/** The failure of an outcome; a success gives an error code that no test expects. */
export function toFailure(outcome: AiOutcome) {
  if (outcome.ok) return { errorCode: 'it succeeded', message: '', retryable: null, retryAfterMs: null, usage: null };
  const { errorCode, message, retryable, retryAfterMs, usage } = outcome;
  return { errorCode, message, retryable, retryAfterMs, usage };
}
