import { type JsonObject, toArray, toObject } from '../../egress/exchange.ts';

const TEXT = 'Sample text of the built-in offline model: no AI provider is configured.';
const FORMATS: Record<string, string> = {
  date: '2000-01-01',
  time: '00:00:00Z',
  'date-time': '2000-01-01T00:00:00Z',
  email: 'sample@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};
const MAX_DEPTH = 8;
const MAX_ITEMS = 5;

/** A value that matches a simple JSON Schema: the same one for the same schema. */
export const buildSample = (schema: JsonObject): unknown => sampleOf(schema, schema, 0);

function sampleOf(given: unknown, root: JsonObject, depth: number): unknown {
  const schema = merge(toObject(given), root);
  if ('const' in schema) return schema.const;
  const [first] = [schema.enum, schema.examples].flatMap(toArray);
  if (first !== undefined) return first;
  if ('default' in schema) return schema.default;
  switch ([schema.type].flat()[0] ?? guessType(schema)) {
    case 'object':
      return sampleObject(schema, root, depth);
    case 'array':
      return sampleItems(schema, root, depth);
    case 'integer':
      return Math.ceil(sampleNumber(schema));
    case 'number':
      return sampleNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return sampleText(schema);
  }
}

/** Adds what `$ref`, `allOf` and the first alternative say, one level deep each. */
function merge(schema: JsonObject, root: JsonObject, depth = 0): JsonObject {
  if (depth >= MAX_DEPTH) return schema;
  const { $ref, allOf, anyOf, oneOf } = schema;
  const others = [findReferenced($ref, root), ...toArray(allOf), toArray(anyOf)[0], toArray(oneOf)[0]];
  const all = [schema, ...others.map((one) => merge(toObject(one), root, depth + 1))];
  const properties = Object.assign({}, ...all.toReversed().map((one) => one.properties));
  const required = all.flatMap((one) => toArray(one.required));
  return Object.assign({}, ...all.toReversed(), { properties, required });
}

function findReferenced(reference: unknown, root: JsonObject): unknown {
  if (reference === '#') return root;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  const names = reference.slice(2).split('/');
  return names.reduce<unknown>((at, name) => toObject(at)[name.replaceAll('~1', '/').replaceAll('~0', '~')], root);
}

function guessType(schema: JsonObject): string {
  if (Object.keys(toObject(schema.properties)).length > 0 || toArray(schema.required).length > 0) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array';
  return schema.minimum === undefined && schema.maximum === undefined ? 'string' : 'number';
}

function sampleObject(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = toObject(schema.properties);
  const required = toArray(schema.required).map(String);
  const names = depth < MAX_DEPTH ? [...Object.keys(properties), ...required] : required;
  if (depth > 2 * MAX_DEPTH) return {};
  return Object.fromEntries([...new Set(names)].map((name) => [name, sampleOf(properties[name], root, depth + 1)]));
}

function sampleItems(schema: JsonObject, root: JsonObject, depth: number): unknown[] {
  const count = Math.min(
    Number(schema.minItems ?? (depth < MAX_DEPTH ? 1 : 0)),
    MAX_ITEMS,
    Number(schema.maxItems ?? MAX_ITEMS),
  );
  const prefix = toArray(schema.prefixItems);
  return Array.from({ length: depth > 2 * MAX_DEPTH ? 0 : Math.max(count, prefix.length) }, (_, index) =>
    sampleOf(prefix[index] ?? schema.items, root, depth + 1),
  );
}

function sampleNumber({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject): number {
  const step = typeof multipleOf === 'number' ? multipleOf : 1;
  const lowest = Number(minimum ?? (exclusiveMinimum === undefined ? 0 : Number(exclusiveMinimum) + step));
  const highest = Number(maximum ?? (exclusiveMaximum === undefined ? lowest : Number(exclusiveMaximum) - step));
  return Math.ceil(Math.min(lowest, highest) / step) * step;
}

function sampleText({ format, minLength, maxLength }: JsonObject): string {
  const text = FORMATS[String(format)] ?? TEXT;
  const least = Math.min(Number(minLength ?? 0), 1000);
  return text.padEnd(least, '.').slice(0, Number(maxLength ?? text.length + least));
}
