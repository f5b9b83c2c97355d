import type { Config } from '../config.ts';
import type { Ai, AiOutcome, AiRequest, AiUsage } from './ai.ts';
import { CutShort, type Failure, failure, failureOf, interrupted } from './ai-failure.ts';
import { type Generated, generate, MAX_TEXT, type ProviderRoute } from './ai-generate.ts';
import { findUnsendable, sentText } from './ai-message.ts';
import { createProviders } from './ai-provider.ts';
import { estimatedUsage, usageOf } from './ai-usage.ts';
import { askOffline } from './offline-model.ts';
import { createProviderHttp, ProviderFault } from './provider-http.ts';
import { storedText } from './stored-text.ts';

export type AiCalls = Pick<Ai, 'ask' | 'close'>;

/** As `createAi`, with all that it needs. */
export function createCalls(settings: Config['ai']): AiCalls {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const http = createProviderHttp();
  const providers = createProviders(settings, http.fetch);
  const running = new Set<AbortController>();
  let closed = false;

  /** One call under its deadline. What stopped it is the signal's reason. */
  async function askProvider(request: AiRequest, route: ProviderRoute): Promise<Answer> {
    const stop = new AbortController();
    const interrupt = () => stop.abort(INTERRUPTED);
    const timer = setTimeout(() => stop.abort(TIMED_OUT), settings.timeoutMs);
    request.signal.addEventListener('abort', interrupt);
    running.add(stop);
    try {
      return answerOf(request, route, await generate(request, route, stop.signal));
    } catch (error) {
      const keys = [route.key, settings.apiKey ?? '', settings.anthropicApiKey ?? ''];
      const found = failureOf(error, { keys, prompt: sentText(request) });
      const { reason } = stop.signal;
      const written = error instanceof CutShort ? error.written : '';
      const spent = (why: Failure) => failed(why, why.sent ? estimatedUsage(request, route.apiUrl, written) : null);
      if (reason === INTERRUPTED) return spent(interrupted(found.sent));
      const refused = error instanceof ProviderFault && error.fault.kind === 'refused';
      if (reason !== TIMED_OUT || refused) return spent(found);
      return spent(
        failure('TIMEOUT', `The provider did not answer within ${settings.timeoutMs / 1000} s.`, found.sent),
      );
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', interrupt);
      running.delete(stop);
    }
  }

  async function answer(request: AiRequest): Promise<Answer> {
    if (closed || request.signal.aborted) return failed(interrupted());
    const route = providers.find(request.model, request.apiKey ?? null);
    if (route.kind === 'offline') return { ok: true, ...(await askOffline(request)) };
    if (route.kind === 'refused') return failed(failure(route.errorCode, route.message));
    const unsendable = findUnsendable(request);
    if (unsendable) {
      const name = storedText(`${unsendable.name} (${unsendable.mediaType})`, 200);
      return failed(failure('INVALID_REQUEST', `The attachment ${name} cannot be given to a model.`));
    }
    return askProvider(request, route);
  }

  return {
    async ask(request) {
      const startedAt = performance.now();
      const outcome = await answer(request);
      return { durationMs: Math.round(performance.now() - startedAt), ...outcome };
    },
    async close() {
      closed = true;
      for (const stop of running) stop.abort(INTERRUPTED);
      await http.close();
    },
  };
}

type Answer = { ok: true; text: string; usage: AiUsage } | Failed;
type Failed = Omit<AiOutcome & { ok: false }, 'durationMs'>;

const INTERRUPTED = new Error('interrupted');
const TIMED_OUT = new Error('timed out');

function answerOf(request: AiRequest, route: ProviderRoute, result: Generated): Answer {
  const { response, usage: counted, finishReason, rawFinishReason } = result;
  const told = { model: response.modelId, usage: counted, written: result.text + (result.reasoningText ?? '') };
  const usage = usageOf(request, { ...told, headers: response.headers }, route.apiUrl);
  if (finishReason === 'content-filter') {
    return failed(failure('CONTENT_FILTERED', "The provider's content filter stopped the answer."), usage);
  }
  if (finishReason === 'interrupted') {
    return failed(failure('PROVIDER_UNAVAILABLE', 'The connection to the provider broke off.'), usage);
  }
  if (rawFinishReason === 'error') {
    return failed(failure('PROVIDER_ERROR', 'The provider broke the answer off with an error.'), usage);
  }
  return { ok: true, text: storedText(result.text, MAX_TEXT), usage };
}

function failed(found: Failure, usage: AiUsage | null = null): Failed {
  const { sent: _, ...why } = found;
  return { ok: false, usage, ...why };
}
