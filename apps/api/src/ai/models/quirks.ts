import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type ProviderError, parseErrorBody } from '../errors.ts';
import type { AiRequest } from '../request.ts';

const MAX_MODELS = 200;
const MAX_SCHEMAS = 1000;

export interface ModelQuirks {
  /** It takes `max_completion_tokens` instead of `max_tokens`. */
  noMaxTokens?: true;
  noTemperature?: true;
  noStreamOptions?: true;
  noSystemRole?: true;
  maxOutputTokens?: number;
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
    /** Returns true if `error` names a quirk that the call, made with `used`, did not respect. */
    learn(request: QuirkRequest, error: ProviderError, used: ModelQuirks): boolean {
      const found = findQuirk(error);
      if (found !== null && Object.keys(found).some((name) => !(name in used))) {
        known.set(request.model, { ...known.get(request.model), ...found });
        return true;
      }
      if (!request.outputSchema || used.outputFormat === 'none' || !refusesOutputFormat(error)) return false;
      const key = toFormatKey(request);
      if (formats.get(key) !== 'none') formats.set(key, used.outputFormat === 'object' ? 'none' : 'object');
      return true;
    },
  };
}

type QuirkRequest = Pick<AiRequest, 'model' | 'outputSchema' | 'tools'>;

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
