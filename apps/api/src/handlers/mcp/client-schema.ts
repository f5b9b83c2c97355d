import { MAX_ID } from '@carillon/contract/primitives';
import { CAP, TRIM, TYPE_HINT } from '@carillon/contract/validation/messages';
import type { TSchema } from '@sinclair/typebox';

/** What validators of clients may not know: they read it in the description. */
const OF_SERVICE = ['$id', 'format', TYPE_HINT, TRIM, CAP];

/** What an answer keeps anyway, and lists of words that later versions extend. */
const LIMITS = ['enum', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'required'];

/**
 * The form of a schema for clients: self-contained, without keywords and formats of this service. That of an answer only has
 * its types, because clients load all of this for every conversation.
 */
export function toClientSchema(schema: TSchema, { isAnswer = false } = {}): Record<string, unknown> {
  const omitted = isAnswer ? [...OF_SERVICE, ...LIMITS, 'description'] : OF_SERVICE;
  return mapSchema(schema, (one) => {
    if (one.$ref !== undefined) throw new Error(`A client does not know ${one.$ref}.`);
    // Of an id, which no client reaches.
    return omit(one, one.maximum === MAX_ID ? [...omitted, 'maximum'] : omitted);
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
