import type { Config } from '../config/config.ts';
import type { CallResult, ProviderCalls } from './provider-call.ts';
import type { AiRequest } from './request.ts';

export type AiOutcome = CallResult & { durationMs: number };

export interface Ai {
  /** Never rejects: a failed call is a value. */
  ask(request: AiRequest): Promise<AiOutcome>;
  close(): Promise<void>;
}

const LOAD_DELAY_MS = 1000;

/**
 * Asks the OpenAI-compatible service, the Anthropic Messages API or the built-in offline model. `ask` makes one call
 * within `timeoutMs`; retries belong to the caller. A text cut off at `maxTokens`, even an empty one, is a success,
 * since it has been billed. After `close` every call, running ones included, ends as `INTERRUPTED`.
 */
export function createAi(settings: Config['ai']): Ai {
  let loading: Promise<ProviderCalls> | undefined;
  let closed = false;
  // The price list alone takes some 20 ms to load, which would delay the start of the process.
  const load = () => {
    loading ??= import('./provider-call.ts').then(({ createProviderCalls }) => createProviderCalls(settings));
    return loading;
  };
  // Early enough that hardly any call waits for it.
  const timer = setTimeout(() => void load(), LOAD_DELAY_MS).unref();
  return {
    async ask(request) {
      const calls = await load();
      if (closed) await calls.close();
      const startedAt = performance.now();
      const result = await calls.ask(request);
      return { durationMs: Math.round(performance.now() - startedAt), ...result };
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await (await loading)?.close();
    },
  };
}
