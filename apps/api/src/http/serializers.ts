import { NAMED_SCHEMAS } from '@carillon/contract';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';

type Serializer = SerializerSelector.Serializer;

const factory = SerializerSelector();
const named = Object.fromEntries(NAMED_SCHEMAS.map((schema) => [schema.$id, schema]));
/** Whose response it is makes no difference. */
const OF_ANY = { method: 'GET', url: '/', httpStatus: '200' };

/** Fastify's own serializer of a response. Throws for a schema that cannot be served. */
export const buildSerializer = (schema: unknown): Serializer => factory(named)({ ...OF_ANY, schema });

/**
 * As `buildSerializer`, but built when it is first needed: all that the operations promise were a fifth of a start, and
 * most of the refusals among them are hardly ever answered.
 */
export function compileSerializer({ schema }: { schema: unknown }): Serializer {
  let serialize: Serializer | undefined;
  return (value) => {
    serialize ??= buildSerializer(schema);
    return serialize(value);
  };
}
