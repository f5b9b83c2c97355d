import { NAMED_SCHEMAS } from '@carillon/contract';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';

type Serializer = SerializerSelector.Serializer;

const factory = SerializerSelector();
const named = Object.fromEntries(NAMED_SCHEMAS.map((schema) => [schema.$id, schema]));
const ANY_ROUTE = { method: 'GET', url: '/', httpStatus: '200' };

/** Values are checked when they are given: without this, a warning is printed for each format of our own. */
const OPTIONS = { ajv: { formats: { 'time-zone': true } } } as const;

export const buildSerializer = (schema: unknown): Serializer => factory(named, OPTIONS)({ ...ANY_ROUTE, schema });

/** Builds a serializer at its first use, because building all takes a fifth of a start. */
export function compileSerializer({ schema }: { schema: unknown }): Serializer {
  let serialize: Serializer | undefined;
  return (value) => {
    serialize ??= buildSerializer(schema);
    return serialize(value);
  };
}
