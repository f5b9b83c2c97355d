import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type ProviderError, readProviderWords } from '../errors.ts';
import { maskSecrets } from '../mask-secrets.ts';
import type { AiRequest } from '../request.ts';

const MAX_MODELS = 200;
const MAX_SCHEMAS = 1000;

export interface ModelQuirks {
  /** It takes `max_completion_tokens` instead of `max_tokens`. */
  noMaxTokens?: true;
  noTokenLimit?: true;
  noTemperature?: true;
  noStreamOptions?: true;
  noSystemRole?: true;
  maxOutputTokens?: number;
  /** Its last answer had the closing tag of reasoning, and no opening one. */
  closesReasoning?: true;
  /** It does not take this schema: it is asked for any JSON object (`object`), or by instructions alone (`none`). */
  outputFormat?: 'object' | 'none';
}

const NO_QUIRKS: ModelQuirks = {};

/** Remembers what models have refused. No list of such models would stay correct. */
export function createModelQuirks() {
  const known = new LRUCache<string, ModelQuirks>({ max: MAX_MODELS });
  // Some models know no schemas, others not every schema.
  const formats = new LRUCache<string, NonNullable<ModelQuirks['outputFormat']>>({ max: MAX_SCHEMAS });
  return {
    find(request: QuirkRequest): ModelQuirks {
      const quirks = known.get(request.model) ?? NO_QUIRKS;
      const outputFormat = request.outputSchema && formats.get(toFormatKey(request));
      return outputFormat ? { ...quirks, outputFormat } : quirks;
    },
    /** The quirks to ask again with if `error` names one that the call, made with `used`, did not respect; else null. */
    learn(
      request: QuirkRequest,
      error: ProviderError,
      used: ModelQuirks,
      withoutEffect: readonly (keyof ModelQuirks)[] = [],
    ): ModelQuirks | null {
      const { found, isLasting } = findQuirks(error, request, used);
      for (const name of withoutEffect) delete found[name];
      if (Object.keys(found).some((name) => !(name in used))) {
        if (isLasting) known.set(request.model, { ...known.get(request.model), ...found });
        return { ...used, ...found };
      }
      if (!request.outputSchema || used.outputFormat === 'none' || !refusesOutputFormat(error)) return null;
      const key = toFormatKey(request);
      if (formats.get(key) !== 'none') formats.set(key, used.outputFormat === 'object' ? 'none' : 'object');
      return { ...used, ...this.find(request) };
    },
    noteReasoning({ model }: QuirkRequest, isClosed: boolean): void {
      const { closesReasoning = false, ...others } = known.get(model) ?? NO_QUIRKS;
      if (isClosed !== closesReasoning) known.set(model, { ...others, ...(isClosed && { closesReasoning: true }) });
    },
  };
}

type QuirkRequest = Pick<AiRequest, 'model'> & Partial<AiRequest>;

/** Some models take a format, and tools, but not both. */
function toFormatKey({ model, outputSchema, tools = [] }: QuirkRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([model, outputSchema, tools.length > 0]))
    .digest('base64');
}

const OUTPUT_FORMAT =
  /response_?format|response_?schema|json_?(?:schema|object|mode)|output_?(?:config|format)|structured[ _-]?output|response mime type|\bschema\b|grammar/i;

const refusesOutputFormat = (error: ProviderError) =>
  error.kind === 'http' && [400, 404, 422, 501].includes(error.status) && OUTPUT_FORMAT.test(error.body);

const NO_SYSTEM_ROLE =
  /\b(?:system|developer)[ -](?:role|message|prompt|instruction)s?\b.{0,40}\b(?:not|unsupported)\b|messages\[0\]\.role\W+does not support\W+system/i;
const STATUSES = [400, 404, 422, 500, 501];
const MAX_WORDS = 2000;
/** A shorter one may be a word of the message by chance. */
const MIN_PROMPT = 24;

interface FoundQuirks {
  found: ModelQuirks;
  isLasting: boolean;
}

function findQuirks(error: ProviderError, request: QuirkRequest, used: ModelQuirks): FoundQuirks {
  const none = { found: {}, isLasting: true };
  if (error.kind !== 'http' && error.kind !== 'reported') return none;
  if (error.kind === 'http' && !STATUSES.includes(error.status)) return none;
  // The word is rare, and services say in many ways that they do not know it.
  const mayBeStream = error.kind === 'http' && request.onText && !used.noStreamOptions;
  if (mayBeStream && error.body.includes('stream_options')) return { ...none, found: { noStreamOptions: true } };
  const { message, type, parameter } = readProviderWords(error);
  // What the message repeats of a prompt says nothing about parameters.
  const { prompt = '' } = request;
  const words = maskSecrets(message, { keys: [], prompt: prompt.length < MIN_PROMPT ? '' : prompt }, MAX_WORDS);
  if (NO_SYSTEM_ROLE.test(words)) return { ...none, found: { noSystemRole: true } };
  const isRefused = (name: RegExp) => refusesParameter(name, { words, type, parameter });
  const noTemperature = isRefused(TEMPERATURE) && { noTemperature: true as const };
  if (!isRefused(used.noMaxTokens ? NEW_TOKEN_LIMIT : TOKEN_LIMIT)) return { ...none, found: { ...noTemperature } };
  const isLasting = !OF_CONTEXT.test(words);
  const limit = isLasting ? findHighestLimit(words, request.maxTokens) : 0;
  if (limit > 0 && !used.maxOutputTokens) return { isLasting, found: { ...noTemperature, maxOutputTokens: limit } };
  const isRenamed = isLasting && !used.noMaxTokens;
  return { isLasting, found: { ...noTemperature, ...(isRenamed ? { noMaxTokens: true } : { noTokenLimit: true }) } };
}

const TEMPERATURE = /(?<![\w-])temperature(?![\w-])/i;
const TOKEN_LIMIT = /(?<![\w-])max_?(?:completion_?|output_?|new_?)?tokens(?![\w-])/i;
/** And not as the one to use instead. */
const NEW_TOKEN_LIMIT = /(?<!\buse [`'"]?)\bmax_completion_tokens\b(?![`'"]? instead)/i;
const OF_CONTEXT = /input (?:tokens|length)|prompt tokens|your request|in the messages/i;
const REFUSED_TYPE = /unsupported|deprecated|unknown_param|unrecognized|extra_forbidden|not_supported/i;
const REFUSAL = new RegExp(
  [
    'unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated|invalid|illegal|forbidden|reserved|not_supported',
    String.raw`\b(?:not|n't|cannot|can't|no longer|neither)\b|n't (?:support|accept|allow)`,
    String.raw`\bonly\b|\bmust\b|\bshould\b|\bhas to\b|\brange\b|\bbetween\b|\b(?:less|greater|larger|lower|higher) than\b`,
    String.raw`too (?:large|high|big|many|low|small)|exceed|at most|at least|out of|maximum allowed|\d+ > \d+`,
    '不支持|非法|无效|取值|只支持|参数错误',
  ].join('|'),
  'i',
);
const MISSING = /missing|field required|is required/i;

function refusesParameter(name: RegExp, error: { words: string; type: string; parameter: string }): boolean {
  const { words, type, parameter } = error;
  if (MISSING.test(`${type} ${words}`) && !/support|deprecat/i.test(words)) return false;
  if (name.test(parameter)) return true;
  if (parameter !== '') return false;
  if (REFUSED_TYPE.test(type)) return name.test(words);
  return words.split(/(?<=[a-z`'")\]])[.;](?=\s+[A-Z])|\n/).some((part) => name.test(part) && REFUSAL.test(part));
}

/** The highest number below the limit that was asked for, as in `200000 > 8192`. */
function findHighestLimit(words: string, asked = 0): number {
  const numbers = words.matchAll(/(?<![\w.-])(\d{1,3}(?:,\d{3})+|\d{2,9})(?![\w-])(\s*\(exclusive\))?/g);
  const limits = [...numbers].map(
    ([, digits = '', exclusive]) => Number(digits.replaceAll(',', '')) - (exclusive ? 1 : 0),
  );
  return Math.max(0, ...limits.filter((limit) => limit < asked));
}
