import { randomBytes } from 'node:crypto';
import { MAX_PREFERENCES_BYTES, type ProcessMessageInput, type ProcessMessageResult } from '@carillon/contract/agent';
import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, invalidField } from '../../errors.ts';
import type { AiOutcome } from '../../lib/ai/client.ts';
import { estimateInputTokens } from '../../lib/ai/request.ts';
import { describeWebTools } from '../../lib/ai/web-tools/find-web-tools.ts';
import { decryptProviderKey, UNREADABLE_KEY_MESSAGE } from '../../lib/crypto/encryption.ts';
import { selectChannelChoices } from '../../platform/queries/channel-choices.ts';
import { getSettings } from '../../platform/settings.ts';
import { createContentStream, type ParsedAnswer, parseAnswer, toMarkerLine } from './answer.ts';
import { completeCall, startCall } from './calls.ts';
import { buildInstructions } from './instructions.ts';
import { writeOfflineEnding } from './proposals/offline-draft.ts';
import { describeProblem, insertProposal, type Proposed, proposeTask } from './proposals/propose.ts';

/** The defaults of tasks. */
export const DEFAULT_MAX_TOKENS = 1024;
export const DEFAULT_TEMPERATURE = 70;
/** An answer may hold the draft of a task beside its text. */
const AGENT_MAX_TOKENS = 2048;

export interface AnswerOptions {
  /** Aborts the call; its usage is recorded all the same. */
  signal: AbortSignal;
  onContent?: (text: string) => void;
}

interface ProcessOptions extends AnswerOptions {
  /** Whether the answer may have a proposal. Default: false. */
  proposes?: boolean;
  /** Runs in the transaction that records the usage of an answer. */
  store?: (tx: Context, answer: AgentAnswer) => Promise<void>;
}

export type AgentAnswer = Omit<ProcessMessageResult, 'success'>;

/** Returns when the usage is recorded. A failed call counts too. Throws 400, 401, 402, 503. */
export async function processMessage(
  ctx: Context,
  caller: Caller,
  { message, context = {} }: ProcessMessageInput,
  { proposes = false, store, ...options }: ProcessOptions,
): Promise<AgentAnswer> {
  const { timezone = caller.timezone ?? 'UTC', preferences } = context;
  if (preferences && Buffer.byteLength(JSON.stringify(preferences)) > MAX_PREFERENCES_BYTES) {
    throw invalidField('context.preferences', `must be at most ${MAX_PREFERENCES_BYTES} bytes of JSON`);
  }
  const [{ defaultModel }, { apiKey, channels }, providers] = await Promise.all([
    getSettings(ctx),
    findAccount(ctx, caller),
    ctx.providers.load(),
  ]);
  const { tools } = describeWebTools(ctx.config.ai, providers, defaultModel);
  const sources = {
    timezone,
    tools,
    channels: channels.filter(({ state }) => state === 'on'),
    canSearch: ctx.config.searchUrl !== null,
  };
  const instruct = (marker: string) => buildInstructions({ now: ctx.now(), preferences, marker, proposes, ...sources });
  const given = { model: defaultModel, apiKey, message, instruct, proposes };
  const { call, outcome, parsed, end } = await answerMessage(ctx, caller, given, options);
  const proposed = await proposeTask(ctx, caller, proposes ? parsed.draft : null, {
    ...sources,
    isCut: outcome.isCut === true,
  });
  let answer = buildAnswer(outcome, parsed, proposed, defaultModel);
  const isStored = await completeCall(ctx, call, outcome.usage, async (tx) => {
    if (answer.proposal) await insertProposal(tx, caller.id, answer.proposal);
    await store?.(tx, answer);
  });
  if (answer.proposal && !isStored) answer = buildAnswer(outcome, parsed, NOT_STORED, defaultModel);
  end(answer.response.content);
  return answer;
}

interface MessageToAnswer {
  model: string;
  apiKey: string | null;
  message: string;
  /** Builds the system message; the answer ends with a line of `marker`, and suggestions. */
  instruct: (marker: string) => string;
  proposes?: boolean;
}

/** Asks a model within the quotas. `completeCall` has to follow, then `end`. Throws 401, 402, 503. */
export async function answerMessage(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  { model, apiKey, message, instruct, proposes = false }: MessageToAnswer,
  { signal, onContent }: AnswerOptions,
) {
  const marker = randomBytes(8).toString('hex');
  const content = onContent && createContentStream(marker, onContent);
  const request = {
    model,
    system: instruct(marker),
    prompt: message,
    maxTokens: AGENT_MAX_TOKENS,
    temperature: DEFAULT_TEMPERATURE,
    apiKey,
    signal,
    offlineText: writeOfflineEnding(message, toMarkerLine(marker), proposes),
    ...(content && { onText: content.add }),
  };
  const inputTokens = estimateInputTokens(request);
  const call = await startCall(ctx, caller, { model, inputTokens, maxTokens: AGENT_MAX_TOKENS });
  const outcome = await ctx.ai.ask(request);
  ctx.metrics.agentCallEnded(outcome);
  if (!outcome.ok) {
    await completeCall(ctx, call, outcome.usage);
    throw toProviderError(ctx, caller, outcome);
  }
  return { call, outcome, parsed: parseAnswer(outcome.text, marker), end: (text: string) => content?.end(text) };
}

const NOT_STORED: Proposed = { problem: 'could not be stored' };

/** The answer as it is returned. */
export function buildAnswer(
  { usage, durationMs }: AiOutcome & { ok: true },
  { content, suggestions }: ParsedAnswer,
  proposed: Proposed | null,
  defaultModel: string,
): AgentAnswer {
  const { inputTokens: input = 0, outputTokens: output = 0 } = usage ?? {};
  return {
    response: {
      content: completeContent(content, proposed),
      tokensUsed: { input, output, total: input + output },
      model: usage?.model ?? defaultModel,
      processingTimeMs: durationMs,
    },
    suggestions,
    ...(proposed && 'proposal' in proposed && { proposal: proposed.proposal }),
  };
}

/** The model may have announced a task that is not there. */
function completeContent(content: string, proposed: Proposed | null): string {
  if (proposed === null) return content;
  if ('problem' in proposed) return [content, describeProblem(proposed.problem)].filter(Boolean).join('\n\n');
  return content || proposed.proposal.task.name;
}

/** The key of the user for the provider, if there is one. Throws 503 if it cannot be read. */
export async function findProviderKey(ctx: Context, caller: Pick<Caller, 'id'>): Promise<string | null> {
  const [user] = await ctx.db
    .select({ ciphertext: users.providerKeyEncrypted })
    .from(users)
    .where(eq(users.id, caller.id));
  return openProviderKey(ctx, caller, user?.ciphertext ?? null);
}

/** The key as above, and the channels. */
async function findAccount(ctx: Context, caller: Caller) {
  const channels = sql<ChannelChoice[]>`${selectChannelChoices(sql`"users"."id"`)}`;
  const [user] = await ctx.db
    .select({ ciphertext: users.providerKeyEncrypted, channels })
    .from(users)
    .where(eq(users.id, caller.id));
  return { apiKey: openProviderKey(ctx, caller, user?.ciphertext ?? null), channels: user?.channels ?? [] };
}

function openProviderKey(ctx: Context, { id }: Pick<Caller, 'id'>, ciphertext: string | null): string | null {
  try {
    return decryptProviderKey(ctx, id, ciphertext);
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
