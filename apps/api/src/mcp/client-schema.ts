import { TYPE_HINT } from '@carillon/contract/validation/messages';
import type { TSchema } from '@sinclair/typebox';

/** The formats that validators of clients know. They read the others in the description. */
const KNOWN_FORMATS = ['date-time', 'email', 'uuid'];

/** What an answer keeps anyway, and lists of words that later versions extend. */
const LIMITS = ['enum', 'format', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems'];

/**
 * The form of a schema for clients: self-contained, without keywords and formats of this service. That of an answer only has
 * its types, because clients load all of this for every conversation.
 */
export function toClientSchema(schema: TSchema, { isAnswer = false } = {}): Record<string, unknown> {
  const omitted = ['$id', TYPE_HINT, ...(isAnswer ? ['description', ...LIMITS] : [])];
  return mapSchema(schema, (one) => {
    if (one.$ref !== undefined) throw new Error(`A client does not know ${one.$ref}.`);
    const isUnknown = one.format !== undefined && !KNOWN_FORMATS.includes(one.format);
    return omit(one, isUnknown ? [...omitted, 'format'] : omitted);
  });
}

/** A schema and the schemas in it without descriptions. */
export const withoutDescriptions = <T extends TSchema>(schema: T): T =>
  mapSchema(schema, (one) => omit(one, ['description'])) as T;

function mapSchema(schema: TSchema, convert: (one: TSchema) => TSchema): TSchema {
  const map = (one: TSchema) => mapSchema(one, convert);
  const { properties, items, anyOf, ...rest } = convert(schema);
  const fields = Object.entries((properties ?? {}) as Record<string, TSchema>);
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(fields.map(([name, one]) => [name, map(one)])) }),
    ...(items && { items: map(items) }),
    ...(anyOf && { anyOf: anyOf.map(map) }),
  } as TSchema;
}

function omit(schema: TSchema, keywords: readonly string[]): TSchema {
  const kept = { ...schema };
  for (const keyword of keywords) delete kept[keyword];
  return kept;
}
