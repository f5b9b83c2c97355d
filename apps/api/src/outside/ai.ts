import type { ERROR_CODES } from '@carillon/db';
import type { Config } from '../config.ts';

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface AiAttachment {
  name: string;
  mediaType: string;
  data: Uint8Array;
}

export interface AiRequest {
  /** As the provider names it; `anthropic/…` may go to the Anthropic Messages API. */
  model: string;
  prompt: string;
  maxTokens: number;
  /** Hundredths: 70 is 0.70. */
  temperature: number;
  /** The user's own key for the OpenAI-compatible service. */
  apiKey?: string | null;
  attachments?: readonly AiAttachment[];
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

/** The AI of these settings (decisions §7). */
export function createAi(_settings: Config['ai']): Ai {
  const failed: AiOutcome = {
    ok: false,
    durationMs: 0,
    usage: null,
    errorCode: 'PROVIDER_UNAVAILABLE',
    message: 'No provider can be reached.',
    retryable: true,
    retryAfterMs: null,
  };
  return { ask: async () => failed, close: async () => {} };
}
