import { randomBytes } from 'node:crypto';
import { MAX_PREFERENCES_BYTES, type ProcessMessageInput, type ProcessMessageResult } from '@carillon/contract/agent';
import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { AiOutcome } from '../ai/client.ts';
import { estimateInputTokens } from '../ai/request.ts';
import type { Caller, Context } from '../context.ts';
import { decryptProviderKey, UNREADABLE_KEY_MESSAGE } from '../crypto/provider-key.ts';
import { AppError, invalidField } from '../errors.ts';
import { getSettings } from '../settings/read.ts';
import { createContentStream, parseAnswer } from './answer.ts';
import { completeCall, startCall } from './calls.ts';
import { buildInstructions } from './instructions.ts';

/** The defaults of tasks. */
export const DEFAULT_MAX_TOKENS = 1024;
export const DEFAULT_TEMPERATURE = 70;

export interface ProcessOptions {
  /** Aborts the call; its usage is recorded all the same. */
  signal: AbortSignal;
  onContent?: (text: string) => void;
  /** Runs in the transaction that records the usage of an answer. */
  store?: (tx: Context, answer: AgentAnswer) => Promise<void>;
}

export type AgentAnswer = Omit<ProcessMessageResult, 'success'>;

/** Returns when the usage is recorded. A failed call counts too. Throws 400, 401, 402, 503. */
export async function processMessage(
  ctx: Context,
  caller: Pick<Caller, 'id' | 'timezone'>,
  { message, context = {} }: ProcessMessageInput,
  { signal, onContent, store }: ProcessOptions,
): Promise<AgentAnswer> {
  const { timezone = caller.timezone ?? 'UTC', preferences } = context;
  if (preferences && Buffer.byteLength(JSON.stringify(preferences)) > MAX_PREFERENCES_BYTES) {
    throw invalidField('context.preferences', `must be at most ${MAX_PREFERENCES_BYTES} bytes of JSON`);
  }
  const marker = randomBytes(8).toString('hex');
  const content = onContent && createContentStream(marker, onContent);
  const [{ defaultModel }, apiKey] = await Promise.all([getSettings(ctx), findProviderKey(ctx, caller)]);
  const request = {
    model: defaultModel,
    system: buildInstructions({ now: ctx.now(), timezone, preferences, marker }),
    prompt: message,
    maxTokens: DEFAULT_MAX_TOKENS,
    temperature: DEFAULT_TEMPERATURE,
    apiKey,
    signal,
    ...(content && { onText: content.add }),
  };
  const inputTokens = estimateInputTokens(request);
  const call = await startCall(ctx, caller, { model: defaultModel, inputTokens, maxTokens: DEFAULT_MAX_TOKENS });
  const outcome = await ctx.ai.ask(request);
  ctx.metrics.agentCallEnded(outcome);
  if (!outcome.ok) {
    await completeCall(ctx, call, outcome.usage);
    throw toProviderError(ctx, caller, outcome);
  }
  const answer = buildAnswer(outcome, marker, defaultModel);
  await completeCall(ctx, call, outcome.usage, store && ((tx) => store(tx, answer)));
  content?.end(answer.response.content);
  return answer;
}

function buildAnswer(
  { usage, durationMs, text }: AiOutcome & { ok: true },
  marker: string,
  defaultModel: string,
): AgentAnswer {
  const { content, suggestions } = parseAnswer(text, marker);
  const { inputTokens: input = 0, outputTokens: output = 0 } = usage ?? {};
  return {
    response: {
      content,
      tokensUsed: { input, output, total: input + output },
      model: usage?.model ?? defaultModel,
      processingTimeMs: durationMs,
    },
    suggestions,
  };
}

/** The key of the user for the provider, if there is one. Throws 503 if it cannot be read. */
export async function findProviderKey(ctx: Context, { id }: Pick<Caller, 'id'>): Promise<string | null> {
  const [user] = await ctx.db.select({ sealed: users.providerKeySealed }).from(users).where(eq(users.id, id));
  try {
    return decryptProviderKey(ctx, id, user?.sealed ?? null);
  } catch (error) {
    ctx.log.error({ err: error, userId: id }, "decrypting a user's own AI key failed");
    throw new AppError('provider_failed', UNREADABLE_KEY_MESSAGE, { errorCode: 'AUTHENTICATION_FAILED' });
  }
}

/** The 503 of a failed call. */
export function toProviderError(ctx: Context, caller: Pick<Caller, 'id'>, failed: AiOutcome & { ok: false }): AppError {
  const { errorCode, message, retryAfterMs } = failed;
  ctx.log.warn({ userId: caller.id, errorCode }, 'an agent call failed');
  const seconds = retryAfterMs === null ? undefined : Math.ceil(retryAfterMs / 1000);
  return new AppError('provider_failed', message, { errorCode }, seconds);
}
