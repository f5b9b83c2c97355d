import { LRUCache } from 'lru-cache';
import { type ProviderError, parseErrorBody } from '../errors.ts';

const MAX_MODELS = 200;

export interface ModelQuirks {
  /** It takes `max_completion_tokens` instead of `max_tokens`. */
  noMaxTokens?: true;
  noTemperature?: true;
  noStreamOptions?: true;
  noSystemRole?: true;
  maxOutputTokens?: number;
}

const NO_QUIRKS: ModelQuirks = {};

/** Remembers what models have refused. No list of such models would stay correct. */
export function createModelQuirks() {
  const known = new LRUCache<string, ModelQuirks>({ max: MAX_MODELS });
  return {
    find: (model: string): ModelQuirks => known.get(model) ?? NO_QUIRKS,
    /** Returns true if `error` names a quirk that the call, made with `used`, did not respect. */
    learn(model: string, error: ProviderError, used: ModelQuirks): boolean {
      const found = findQuirk(error);
      if (found === null || Object.keys(found).every((name) => name in used)) return false;
      known.set(model, { ...known.get(model), ...found });
      return true;
    },
  };
}

const NO_SYSTEM_ROLE =
  /\b(?:system|developer)[ -](?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|unsupported)\b|messages\[0\]\.role\W+does not support\W+system/i;
const TOO_MANY_TOKENS = /\bmax_tokens: \d+ > (\d{1,9})\b/;

function findQuirk(error: ProviderError): ModelQuirks | null {
  if (error.kind !== 'http') return null;
  // The word is rare, and services say in many ways that they do not know it.
  if ([400, 422].includes(error.status) && error.body.includes('stream_options')) return { noStreamOptions: true };
  if (error.status !== 400) return null;
  const { message, type, parameter } = parseErrorBody(error.body);
  if (NO_SYSTEM_ROLE.test(message)) return { noSystemRole: true };
  const maxOutputTokens = Number(TOO_MANY_TOKENS.exec(message)?.[1]);
  if (maxOutputTokens > 0) return { maxOutputTokens };
  if (!/unsupported|not supported|deprecated/i.test(`${type} ${message}`)) return null;
  if (parameter === 'max_tokens' || message.includes('max_completion_tokens')) return { noMaxTokens: true };
  return parameter === 'temperature' || message.includes('`temperature`') ? { noTemperature: true } : null;
}
