import type { Pattern, Patterns } from './pattern.ts';
import { isObject, type Keywords, SchemaError, type SchemaNode } from './schema-node.ts';

/** Reads the keywords of one schema for their compilers. */
export function createKeywords(
  schema: Readonly<Record<string, unknown>>,
  node: SchemaNode,
  findNode: (...path: (string | number)[]) => SchemaNode,
  patterns: Patterns,
): Keywords {
  const fieldOf = (...path: (string | number)[]) => [node.field, ...path].join('.');
  const refuse = (keyword: string, message: string): never => {
    throw new SchemaError(fieldOf(keyword), message);
  };
  const readNumber = (keyword: string): number => {
    const value = schema[keyword];
    return typeof value === 'number' && Number.isFinite(value) ? value : refuse(keyword, 'must be a number');
  };
  const readObject = (keyword: string): Record<string, unknown> => {
    const value = schema[keyword];
    return isObject(value) ? value : refuse(keyword, 'must be an object');
  };
  const toNames = (names: unknown, ...path: string[]): string[] => {
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
      throw new SchemaError(fieldOf(...path), 'must be an array of strings');
    }
    if (new Set(names).size < names.length) throw new SchemaError(fieldOf(...path), 'must not name a property twice');
    return names;
  };
  const toPattern = (source: string, ...path: string[]): Pattern => {
    const pattern = patterns.compile(source);
    if (typeof pattern === 'string') throw new SchemaError(fieldOf(...path), pattern);
    return pattern;
  };
  return {
    node,
    schema,
    has: (keyword) => Object.hasOwn(schema, keyword),
    refuse,
    readNumber,
    readCount(keyword) {
      const value = readNumber(keyword);
      return Number.isInteger(value) && value >= 0 ? value : refuse(keyword, 'must be an integer of at least 0');
    },
    readNames: (keyword) => toNames(schema[keyword], keyword),
    readNameLists: (keyword) =>
      Object.entries(readObject(keyword)).map(([name, names]) => [name, toNames(names, keyword, name)]),
    readPattern(keyword) {
      const source = schema[keyword];
      return typeof source === 'string' ? toPattern(source, keyword) : refuse(keyword, 'must be a string');
    },
    readSchema: (keyword) => findNode(keyword),
    readSchemas(keyword) {
      const given = schema[keyword];
      if (!Array.isArray(given) || given.length === 0)
        return refuse(keyword, 'must be an array with at least one schema');
      return given.map((_, index) => findNode(keyword, index));
    },
    readSchemaMap: (keyword) => Object.keys(readObject(keyword)).map((name) => [name, findNode(keyword, name)]),
    readPatternMap: (keyword) =>
      Object.keys(readObject(keyword)).map((source) => [toPattern(source, keyword, source), findNode(keyword, source)]),
  };
}
