import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type CompiledSchema, compileSchema } from './compile.ts';

const MAX_KNOWN = 100;

const known = new LRUCache<string, CompiledSchema>({ max: MAX_KNOWN });

/** Compiles a schema that has been compiled before, when it was saved, unless it is still known. */
export function findCompiledSchema(schema: unknown): CompiledSchema {
  const digest = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  let compiled = known.get(digest);
  if (compiled === undefined) {
    compiled = compileSchema(schema, 'outputSchema');
    known.set(digest, compiled);
  }
  return compiled;
}
