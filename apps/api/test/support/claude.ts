import type { Test } from 'tap';
import type { AiRequest } from '../../src/lib/ai/request.ts';
import type { Warnings } from '../../src/lib/ai/usage.ts';
import type { Config } from '../../src/lib/config/config.ts';
import { buildAiRequest, createTestAi } from './ai-client.ts';
import { startAnthropicServer } from './servers/anthropic-server.ts';

/** A server that speaks Anthropic's protocol, and a client that asks it with both web tools. */
export async function startClaude(t: Test, settings: Partial<Config['ai']> = {}, log?: Warnings) {
  const anthropic = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url, ...settings }, log);
  const ask = (request: Partial<AiRequest> = {}) =>
    ai.ask(buildAiRequest({ model: 'anthropic/claude-sonnet-4-5', tools: ['web_search', 'web_fetch'], ...request }));
  return { anthropic, ask };
}
