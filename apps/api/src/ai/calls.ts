import { toStorableText } from '@carillon/db/storable-text';
import type { Config } from '../config/config.ts';
import { createProviderHttp } from '../egress/provider-http.ts';
import type { Ai, AiOutcome, AiRequest, AiUsage } from './client.ts';
import { type Failure, failure, failureOf, interrupted } from './failure.ts';
import { findUnsendable, sentText } from './message.ts';
import { createRefusals } from './model-quirks.ts';
import { askOffline } from './offline-model.ts';
import { createProviders, type Route } from './provider.ts';
import { readerOf } from './readers.ts';
import { Heard, MAX_TEXT } from './reply.ts';
import { estimatedUsage, usageOf } from './usage.ts';

export type AiCalls = Pick<Ai, 'ask' | 'close'>;
type ProviderRoute = Route & { kind: 'provider' };

/** Nothing is inflated: what is packed small may be large. */
const HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Carillon' };

/** As `createAi`, with all that it needs. */
export function createCalls(settings: Config['ai']): AiCalls {
  const http = createProviderHttp();
  const providers = createProviders(settings);
  const refusals = createRefusals();

  /** One call under its deadline: asks once, and again only without what this model turned out to refuse. */
  async function askProvider(request: AiRequest, route: ProviderRoute, deadlineAt: number): Promise<Answer> {
    const { protocol, origin, path, apiUrl, key } = route;
    const headers = { ...HEADERS, ...protocol.headersOf(key) };
    const { signal } = request;
    for (;;) {
      const heeded = refusals.of(request.model);
      const body = JSON.stringify(protocol.bodyOf(route.model, request, heeded));
      const heard = new Heard(request.onText);
      const fault = await http.post({
        ...{ origin, path, headers, body, signal, deadlineAt },
        read: (answered) => readerOf(protocol, answered, heard, request.onText !== undefined),
      });
      if (fault === null) return answerOf(heard, usageOf(request, heard, protocol.countsOf(heard.usage), apiUrl));
      if (refusals.learn(request.model, fault, heeded)) continue;
      const keys = [key, settings.apiKey ?? '', settings.anthropicApiKey ?? ''];
      const found = failureOf(fault, { keys, prompt: sentText(request) }, settings.timeoutMs);
      const isSpent = found.sent || heard.written !== '';
      return failed(found, isSpent ? estimatedUsage(request, apiUrl, heard.written) : null);
    }
  }

  async function answer(request: AiRequest, startedAt: number): Promise<Answer> {
    if (http.closed || request.signal.aborted) return failed(interrupted());
    const route = providers.find(request.model, request.apiKey ?? null);
    if (route.kind === 'offline') return { ok: true, ...(await askOffline(request)) };
    if (route.kind === 'refused') return failed(failure(route.errorCode, route.message));
    const unsendable = findUnsendable(request);
    if (unsendable) {
      const name = toStorableText(`${unsendable.name} (${unsendable.mediaType})`, 200);
      return failed(failure('INVALID_REQUEST', `The attachment ${name} cannot be given to a model.`));
    }
    return askProvider(request, route, startedAt + settings.timeoutMs);
  }

  return {
    async ask(request) {
      const startedAt = performance.now();
      const outcome = await answer(request, startedAt);
      return { durationMs: Math.round(performance.now() - startedAt), ...outcome };
    },
    close: () => http.close(),
  };
}

type Answer = { ok: true; text: string; usage: AiUsage } | Failed;
type Failed = Omit<AiOutcome & { ok: false }, 'durationMs'>;

function answerOf({ ending, text }: Heard, usage: AiUsage): Answer {
  if (ending === 'filtered') {
    return failed(failure('CONTENT_FILTERED', "The provider's content filter stopped the answer."), usage);
  }
  if (ending === 'failed') {
    return failed(failure('PROVIDER_ERROR', 'The provider broke the answer off with an error.'), usage);
  }
  return { ok: true, text: toStorableText(text, MAX_TEXT), usage };
}

function failed(found: Failure, usage: AiUsage | null = null): Failed {
  const { sent: _, ...why } = found;
  return { ok: false, usage, ...why };
}
