import type { Attributes, Trace } from '../telemetry/tracing.ts';
import type { Ai } from './client.ts';
import type { ProviderList } from './provider-list.ts';
import { findModel, getApiUrl, type Providers } from './providers.ts';
import type { AiRequest } from './request.ts';

/** In OpenTelemetry's conventions every service with OpenAI's protocol is `openai`. */
const SYSTEMS = { anthropic: 'anthropic', openai: 'openai' };

/** Makes a span of each call, by the conventions for generative AI: numbers and names, no texts. */
export function tracedAi(ai: Ai, trace: Trace, providers: ProviderList): Ai {
  if (!trace.isOn) return ai;
  return {
    ask: async (request) =>
      trace.span(
        `chat ${request.model}`,
        buildAttributes(request, await providers.load().catch(() => null)),
        async (span) => {
          const outcome = await ai.ask(request);
          const { usage } = outcome;
          if (usage) {
            span.set({
              'gen_ai.response.model': usage.model,
              'gen_ai.usage.input_tokens': usage.inputTokens,
              'gen_ai.usage.output_tokens': usage.outputTokens,
              'carillon.usage.estimated': usage.estimated,
              'carillon.usage.cost_usd': usage.costUsd,
              'carillon.usage.tool_uses': usage.toolUses,
            });
          }
          if (!outcome.ok) span.fail(outcome.errorCode);
          return outcome;
        },
        { kind: 'client' },
      ),
    close: () => ai.close(),
  };
}

function buildAttributes(
  { model, maxTokens, temperature, onText }: AiRequest,
  providers: Providers | null,
): Attributes {
  const found = providers && findModel(providers, model);
  const isOffline = providers?.isOffline === true;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': found ? SYSTEMS[found.provider.kind] : isOffline ? 'offline' : undefined,
    ...(found && { 'carillon.provider': found.provider.name }),
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.request.temperature': temperature / 100,
    ...(onText && { 'gen_ai.request.stream': true }),
    ...(found && buildServerAttributes(getApiUrl(found.provider))),
  };
}

function buildServerAttributes(url: string): Attributes {
  const { hostname, port, protocol } = new URL(url);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}
