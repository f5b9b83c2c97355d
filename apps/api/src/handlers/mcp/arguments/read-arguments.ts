import type { TSchema } from '@sinclair/typebox';

/**
 * Arguments as clients write them, in the types of the schema: a value of another type than text may come as its JSON text, and
 * an optional one as null. What is neither stays, for the check to refuse it.
 */
export function readArguments(schema: TSchema, given: unknown): unknown {
  const types = [schema.type].flat();
  const value = typeof given === 'string' && !types.includes('string') ? parseText(types, given) : given;
  if (Array.isArray(value)) return schema.items ? value.map((item) => readArguments(schema.items, item)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    const known = Object.hasOwn(schema.properties ?? {}, name) ? (schema.properties[name] as TSchema) : undefined;
    if (!known) return [[name, field]];
    const isAbsent = field === null && !schema.required?.includes(name) && ![known.type].flat().includes('null');
    return isAbsent ? [] : [[name, readArguments(known, field)]];
  });
  return Object.fromEntries(fields);
}

function parseText(types: readonly string[], text: string): unknown {
  try {
    // Python writes `True`.
    const value = JSON.parse(types.includes('boolean') ? text.toLowerCase() : text, refusePrototype);
    return types.some((type) => isOfType(type, value)) ? value : text;
  } catch {
    return text;
  }
}

/** As bodies are parsed. */
function refusePrototype(name: string, value: unknown): unknown {
  if (name === '__proto__') throw new SyntaxError('A field is named __proto__.');
  return value;
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
