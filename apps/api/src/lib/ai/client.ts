import type { Config } from '../config/config.ts';
import type { CallResult, ProviderCalls } from './provider-call.ts';
import { fixProviders, type ProviderList } from './provider-list.ts';
import type { AiRequest } from './request.ts';
import type { Warnings } from './usage.ts';

export type AiOutcome = CallResult & { durationMs: number };

export interface Ai {
  /** Never rejects: a failed call is a value. */
  ask(request: AiRequest): Promise<AiOutcome>;
  close(): Promise<void>;
}

const LOAD_DELAY_MS = 1000;

/**
 * `ask` makes one call within `timeoutMs`, without retries. After `close` every call ends as `INTERRUPTED`.
 * Implausible claims of a provider go to `log`.
 */
export function createAi(settings: Config['ai'], log?: Warnings, providers: ProviderList = fixProviders(settings)): Ai {
  let loading: Promise<ProviderCalls> | undefined;
  let closed = false;
  // Loading the price list takes some 20 ms, which would delay the start of the process.
  const load = () => {
    loading ??= import('./provider-call.ts').then(({ createProviderCalls }) =>
      createProviderCalls(settings, providers, log),
    );
    return loading;
  };
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
