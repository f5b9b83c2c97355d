import { NAMED_SCHEMAS } from '@carillon/contract';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';

type Serializer = SerializerSelector.Serializer;

const factory = SerializerSelector();
const named = Object.fromEntries(NAMED_SCHEMAS.map((schema) => [schema.$id, schema]));
/** The factory needs a route, but its serializers do not depend on it. */
const ANY_ROUTE = { method: 'GET', url: '/', httpStatus: '200' };

/** Builds Fastify's own serializer of a response. Throws for a schema that cannot be served. */
export const buildSerializer = (schema: unknown): Serializer => factory(named)({ ...ANY_ROUTE, schema });

/** Builds a serializer at its first use: building all of them takes a fifth of a start, and most are rarely needed. */
export function compileSerializer({ schema }: { schema: unknown }): Serializer {
  let serialize: Serializer | undefined;
  return (value) => {
    serialize ??= buildSerializer(schema);
    return serialize(value);
  };
}
