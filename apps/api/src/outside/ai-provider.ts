import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { wrapLanguageModel } from 'ai';
import type { Config } from '../config.ts';
import type { ErrorCode } from './ai.ts';
import { wordsOf } from './ai-failure.ts';
import { streaming } from './ai-one-piece.ts';
import { ANTHROPIC_PREFIX, anthropicUrlOf, serviceOf } from './ai-protocol.ts';
import { ProviderFault } from './provider-http.ts';
import { storedText } from './stored-text.ts';

const MAX_MODELS = 200;
/** The name under which the SDK takes body fields of the OpenAI-compatible service. */
const PROVIDER = 'chat';

export type Parameter = 'max_tokens' | 'temperature' | 'stream_options' | 'system';
type Model = Parameters<typeof wrapLanguageModel>[0]['model'];

interface Served {
  model: Model;
  /** Parameters that this model has turned out to refuse. */
  refuses: Set<Parameter>;
}

/** Who answers a model's name. */
export type Route =
  | { kind: 'offline' }
  | { kind: 'refused'; errorCode: ErrorCode; message: string }
  | ({ kind: 'provider'; key: string; headers: Record<string, string>; apiUrl: string } & Served);

/** Finds for a model how its service is asked: with the user's own key, where that service takes one and there is one. */
export function createProviders(settings: Config['ai'], fetch: typeof globalThis.fetch) {
  const { baseUrl, anthropicApiKey } = settings;
  const anthropic = createAnthropic({ apiKey: anthropicApiKey ?? '', baseURL: anthropicUrlOf(settings), fetch });
  const compatible = createOpenAICompatible({
    name: PROVIDER,
    baseURL: baseUrl ?? '',
    fetch: streaming(fetch),
    includeUsage: true,
    transformRequestBody: (body) =>
      kept.get(body.model)?.refuses.has('stream_options') ? { ...body, stream_options: undefined } : body,
  });
  // The SDK builds a model's schemas anew with each model, a quarter of a millisecond: models are kept.
  const kept = new Map<string, Served>();
  const keep = (name: string, create: () => Model): Served => {
    const served = kept.get(name) ?? { model: create(), refuses: new Set() };
    kept.delete(name);
    kept.set(name, served);
    if (kept.size > MAX_MODELS) kept.delete(kept.keys().next().value as string);
    return served;
  };

  return {
    find(name: string, ownKey: string | null): Route {
      const service = serviceOf(settings, name);
      if (service.kind === 'offline') return service;
      if (service.kind === 'anthropic') {
        const model = keep(name, () => anthropic(name.slice(ANTHROPIC_PREFIX.length)));
        return withKey({ ...model, apiUrl: service.url }, anthropicApiKey ?? '', {});
      }
      if (service.kind === 'none') {
        const message = `Model "${name}" needs AI_BASE_URL, which is not set; only models named anthropic/… can be asked.`;
        return { kind: 'refused', errorCode: 'INVALID_REQUEST', message: storedText(message, 500) };
      }
      const key = ownKey || settings.apiKey || '';
      const model = keep(name, () => compatible(name));
      return withKey({ ...model, apiUrl: service.url }, key, key ? { authorization: `Bearer ${key}` } : {});
    },
  };
}

function withKey(served: Served & { apiUrl: string }, key: string, headers: Record<string, string>): Route {
  if (!/^[\x21-\x7e]*$/.test(key)) {
    const message = 'The API key has characters that no key has: it was probably copied with something around it.';
    return { kind: 'refused', errorCode: 'AUTHENTICATION_FAILED', message };
  }
  return { kind: 'provider', key, headers, ...served };
}

/** The call's settings as this model takes them: `max_tokens` and `temperature`, unless it has refused them. */
export function settingsFor(request: { maxTokens: number; temperature: number }, refuses: ReadonlySet<Parameter>) {
  return {
    ...(refuses.has('temperature') ? {} : { temperature: request.temperature / 100 }),
    ...(refuses.has('max_tokens')
      ? { providerOptions: { [PROVIDER]: { max_completion_tokens: request.maxTokens } } }
      : { maxOutputTokens: request.maxTokens }),
  };
}

/** How services say that a model takes messages of its user only. */
const NO_INSTRUCTIONS =
  /\b(?:system|developer)[ -](?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|unsupported)\b|messages\[0\]\.role\W+does not support\W+system/i;

/**
 * The parameter for which a model refused a call, if that is why: OpenAI's reasoning models take neither `max_tokens`
 * nor a temperature, and no list of them stays true.
 */
export function refusedParameter(error: unknown): Parameter | null {
  if (!(error instanceof ProviderFault) || error.fault.kind !== 'refused') return null;
  // The word is no common one, and services say in as many ways that they do not know it.
  if ([400, 422].includes(error.fault.status) && error.fault.body.includes('stream_options')) return 'stream_options';
  if (error.fault.status !== 400) return null;
  const { message, kind, parameter } = wordsOf(error.fault.body);
  if (NO_INSTRUCTIONS.test(message)) return 'system';
  if (!/unsupported|not supported|deprecated/i.test(`${kind} ${message}`)) return null;
  if (parameter === 'max_tokens' || message.includes('max_completion_tokens')) return 'max_tokens';
  return parameter === 'temperature' || message.includes('`temperature`') ? 'temperature' : null;
}
