import type { Fault } from '../egress/provider-error.ts';
import { wordsOf } from './failure.ts';

const MAX_MODELS = 200;

/** What a model has turned out to refuse. */
export interface Refusals {
  max_tokens?: true;
  temperature?: true;
  stream_options?: true;
  system?: true;
  moreTokensThan?: number;
}

const NOTHING: Refusals = {};

/**
 * What is known of models' refusals, of a few hundred models: OpenAI's reasoning models take neither `max_tokens` nor a
 * temperature, other models no instructions, and no list of them stays true.
 */
export function createRefusals() {
  const known = new Map<string, Refusals>();
  return {
    of: (model: string): Refusals => known.get(model) ?? NOTHING,
    /** Whether the fault of a call that heeded `heeded` is a refusal which another call can heed. */
    learn(model: string, fault: Fault, heeded: Refusals): boolean {
      const found = findRefusal(fault);
      if (found === null || Object.keys(found).every((name) => name in heeded)) return false;
      const all = { ...known.get(model), ...found };
      known.delete(model);
      known.set(model, all);
      if (known.size > MAX_MODELS) known.delete(known.keys().next().value as string);
      return true;
    },
  };
}

/** How services say that a model takes messages of its user only. */
const NO_INSTRUCTIONS =
  /\b(?:system|developer)[ -](?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|unsupported)\b|messages\[0\]\.role\W+does not support\W+system/i;
/** How Anthropic says that a model cannot write so much. */
const TOO_MANY = /\bmax_tokens: \d+ > (\d{1,9})\b/;

function findRefusal(fault: Fault): Refusals | null {
  if (fault.kind !== 'refused') return null;
  // The word is no common one, and services say in as many ways that they do not know it.
  if ([400, 422].includes(fault.status) && fault.body.includes('stream_options')) return { stream_options: true };
  if (fault.status !== 400) return null;
  const { message, kind, parameter } = wordsOf(fault.body);
  if (NO_INSTRUCTIONS.test(message)) return { system: true };
  const most = Number(TOO_MANY.exec(message)?.[1]);
  if (most > 0) return { moreTokensThan: most };
  if (!/unsupported|not supported|deprecated/i.test(`${kind} ${message}`)) return null;
  if (parameter === 'max_tokens' || message.includes('max_completion_tokens')) return { max_tokens: true };
  return parameter === 'temperature' || message.includes('`temperature`') ? { temperature: true } : null;
}
