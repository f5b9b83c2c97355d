import type { ERROR_CODES } from '@carillon/db';
import type { Config } from '../config/config.ts';
import type { AiCalls } from './calls.ts';

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface AiAttachment {
  name: string;
  mediaType: string;
  data: Uint8Array;
}

export interface AiRequest {
  /** As the provider names it; `anthropic/…` may go to the Anthropic Messages API. */
  model: string;
  /** Instructions, which the model is to put above the prompt. */
  system?: string;
  prompt: string;
  maxTokens: number;
  /** Hundredths: 70 is 0.70. */
  temperature: number;
  /** The user's own key for the OpenAI-compatible service. */
  apiKey?: string | null;
  attachments?: readonly AiAttachment[];
  /**
   * Makes the answer a stream: called with each piece of the text as it comes. Together they are the text of the
   * outcome, and none of them splits a character.
   */
  onText?: (delta: string) => void;
  signal: AbortSignal;
}

export interface AiUsage {
  /** The model that answered, as the provider names it. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** True where the provider did not count and we did. */
  estimated: boolean;
  costUsd: number;
}

export type AiOutcome = {
  durationMs: number;
  /** Null when nothing reached the provider, or nothing can be said. */
  usage: AiUsage | null;
} & (
  | { ok: true; text: string }
  | { ok: false; errorCode: ErrorCode; message: string; retryable: boolean; retryAfterMs: number | null }
);

export interface Ai {
  /** Never rejects: a failure of the outside world is a value. */
  ask(request: AiRequest): Promise<AiOutcome>;
  close(): Promise<void>;
}

/** By then a process that was started listens. */
const LOADED_AFTER_MS = 1000;

/**
 * The AI of these settings: the OpenAI-compatible service, the Anthropic Messages API, or the built-in offline model
 * (decisions §7). `ask` makes one call, within `timeoutMs` from start to end, and reports as a value whatever goes
 * wrong; repeats are the caller's business. A text cut short at `maxTokens`, even an empty one, is a success: it has
 * been paid for. After `close` every call, running ones included, ends as `INTERRUPTED`.
 */
export function createAi(settings: Config['ai']): Ai {
  let loaded: Promise<AiCalls> | undefined;
  let closed = false;
  // The price list alone takes some 20 ms, which a process that starts had better listen.
  const load = () => {
    loaded ??= import('./calls.ts').then(({ createCalls }) => createCalls(settings));
    return loaded;
  };
  // Early enough that hardly any call waits for it.
  const timer = setTimeout(() => void load(), LOADED_AFTER_MS).unref();
  return {
    async ask(request) {
      const calls = await load();
      if (closed) await calls.close();
      return calls.ask(request);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await (await loaded)?.close();
    },
  };
}
