import { toArray, toObject } from '../../egress/exchange.ts';

type Schema = Readonly<Record<string, unknown>>;

const MAPS = ['$defs', 'definitions', 'properties'];
const LISTS = ['anyOf', 'oneOf'];
const SAME_VALUE = ['$ref', 'allOf', 'anyOf', 'dependentSchemas', 'if', 'oneOf'];
const AS_THEY_ARE = ['$ref', 'const', 'description', 'enum', 'format', 'required', 'title', 'type'];
const STRICT = new Set([...AS_THEY_ARE, '$defs', 'anyOf', 'properties', 'items', 'additionalProperties', 'pattern']);

/** Whether OpenAI's strict mode takes the schema: every object is closed, and requires each of its properties. */
export function fitsStrictMode(schema: unknown): boolean {
  const given = toObject(schema);
  if (given !== schema || Object.keys(given).some((keyword) => !STRICT.has(keyword))) return false;
  const properties = toObject(given.properties);
  const isObject =
    given.type === 'object' || given.properties !== undefined || given.additionalProperties !== undefined;
  const required = new Set(toArray(given.required));
  if (isObject && given.additionalProperties !== false) return false;
  if (!Object.keys(properties).every((name) => required.has(name))) return false;
  const inside = [...Object.values(properties), ...Object.values(toObject(given.$defs)), ...toArray(given.anyOf)];
  return [...inside, given.items ?? []].flat().every(fitsStrictMode);
}

/**
 * The part of a schema that Anthropic's structured outputs know, with every object closed. Null if closing an object would
 * forbid what the schema allows.
 */
export function toClosedSchema(schema: unknown): Schema | null {
  const given = toObject(schema);
  if (given !== schema) return null;
  const closed: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(given)) {
    if (AS_THEY_ARE.includes(keyword)) closed[keyword] = value;
    const isMap = MAPS.includes(keyword);
    if (!isMap && !LISTS.includes(keyword) && keyword !== 'items') continue;
    const children = isMap ? Object.entries(toObject(value)) : [value].flat().entries();
    const converted = [...children].map(([name, child]) => [name, toClosedSchema(child)] as const);
    if (converted.some(([, child]) => child === null)) return null;
    if (isMap) closed[keyword] = Object.fromEntries(converted);
    else if (keyword === 'items') closed.items = converted[0]?.[1];
    else closed.anyOf = converted.map(([, child]) => child);
  }
  const isObject = [given.type].flat().includes('object') || given.properties !== undefined;
  if (!isObject) return closed;
  if (SAME_VALUE.some((keyword) => given[keyword] !== undefined)) return null;
  if (given.patternProperties !== undefined || toObject(given.additionalProperties) === given.additionalProperties)
    return null;
  if (given.properties === undefined && given.additionalProperties !== false) return null;
  return { ...closed, additionalProperties: false };
}
