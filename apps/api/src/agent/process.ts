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
import { contentOf, readAnswer } from './answer.ts';
import { beginCall, endCall } from './calls.ts';
import { writeInstructions } from './instructions.ts';

/** Those of a task that says nothing else. */
const MAX_TOKENS = 1024;
const TEMPERATURE = 70;

export interface Listener {
  /** Gives the call up: what it has used is booked all the same. */
  signal: AbortSignal;
  /** Makes the answer a stream: called with each piece of the content as it comes. Together they are the content. */
  onContent?: (text: string) => void;
}

/**
 * Answers a message at once, with suggestions of what to send next, and returns when the call is booked (specification
 * "Agent mode", decisions §7, §9). Refusals: 400 on preferences that are too large, 402 over quota, 401 for an account
 * that is gone, 503 with `errorCode` where the provider failed. A failed call counts as well.
 */
export async function processMessage(
  ctx: Context,
  caller: Pick<Caller, 'id' | 'timezone'>,
  { message, context = {} }: ProcessMessageInput,
  { signal, onContent }: Listener,
): Promise<Omit<ProcessMessageResult, 'success'>> {
  const { timezone = caller.timezone ?? 'UTC', preferences } = context;
  if (preferences && Buffer.byteLength(JSON.stringify(preferences)) > MAX_PREFERENCES_BYTES) {
    throw invalidField('context.preferences', `must be at most ${MAX_PREFERENCES_BYTES} bytes of JSON`);
  }
  const marker = randomBytes(8).toString('hex');
  const content = onContent && contentOf(marker, onContent);
  const [{ defaultModel }, apiKey] = await Promise.all([getSettings(ctx), findOwnKey(ctx, caller)]);
  const request = {
    model: defaultModel,
    system: writeInstructions({ now: ctx.now(), timezone, preferences, marker }),
    prompt: message,
    maxTokens: MAX_TOKENS,
    temperature: TEMPERATURE,
    apiKey,
    signal,
    ...(content && { onText: content.add }),
  };
  const inputTokens = estimateInputTokens(request);
  const call = await beginCall(ctx, caller, { model: defaultModel, inputTokens, maxTokens: MAX_TOKENS });
  const outcome = await ctx.ai.ask(request);
  await endCall(ctx, call, outcome.usage);
  ctx.metrics.agentCallEnded(outcome);
  if (!outcome.ok) throw refuseFailure(ctx, caller, outcome);
  const { usage, durationMs, text } = outcome;
  const answer = readAnswer(text, marker);
  content?.end(answer.content);
  const { inputTokens: input = 0, outputTokens: output = 0 } = usage ?? {};
  return {
    response: {
      content: answer.content,
      tokensUsed: { input, output, total: input + output },
      model: usage?.model ?? defaultModel,
      processingTimeMs: durationMs,
    },
    suggestions: answer.suggestions,
  };
}

async function findOwnKey(ctx: Context, { id }: Pick<Caller, 'id'>): Promise<string | null> {
  const [user] = await ctx.db.select({ sealed: users.providerKeySealed }).from(users).where(eq(users.id, id));
  try {
    return decryptProviderKey(ctx, id, user?.sealed ?? null);
  } catch (error) {
    ctx.log.error({ err: error, userId: id }, "a user's own AI key cannot be opened");
    throw new AppError('provider_failed', UNREADABLE_KEY_MESSAGE, { errorCode: 'AUTHENTICATION_FAILED' });
  }
}

function refuseFailure(ctx: Context, caller: Pick<Caller, 'id'>, failed: AiOutcome & { ok: false }): AppError {
  const { errorCode, message, retryAfterMs } = failed;
  ctx.log.warn({ userId: caller.id, errorCode }, 'an agent call failed');
  const seconds = retryAfterMs === null ? undefined : Math.ceil(retryAfterMs / 1000);
  return new AppError('provider_failed', message, { errorCode }, seconds);
}
