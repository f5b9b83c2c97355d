import type { Pattern } from './pattern.ts';
import { Evaluated, type Place, type Run } from './run.ts';

/** Returns whether the value matches one keyword. `evaluated` is null if no schema asks for it. */
export type Check = (value: unknown, place: Place, run: Run, evaluated: Evaluated | null) => boolean;

export interface SchemaNode {
  readonly checks: Check[];
  /** Of `unevaluatedProperties` and `unevaluatedItems`, which depend on all others. */
  readonly finalChecks: Check[];
  /** The schemas that are applied to the same value. */
  readonly inPlace: SchemaNode[];
  /** Dotted, for messages. */
  readonly field: string;
}

/** What the keywords of a schema are compiled with. */
export interface Keywords {
  readonly node: SchemaNode;
  readonly schema: Readonly<Record<string, unknown>>;
  has(keyword: string): boolean;
  /** Throws `SchemaError` if the value of the keyword is not one of its kind. */
  readCount(keyword: string): number;
  readNumber(keyword: string): number;
  readNames(keyword: string): string[];
  readNameLists(keyword: string): [name: string, names: string[]][];
  readPattern(keyword: string): Pattern;
  readSchema(keyword: string): SchemaNode;
  readSchemas(keyword: string): SchemaNode[];
  readSchemaMap(keyword: string): [name: string, node: SchemaNode][];
  readPatternMap(keyword: string): [pattern: Pattern, node: SchemaNode][];
  refuse(keyword: string, message: string): never;
}

export class SchemaError extends Error {
  /** Dotted. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** Whether `value` matches the schema of `node`. */
export function evaluate(
  node: SchemaNode,
  value: unknown,
  place: Place,
  run: Run,
  evaluated: Evaluated | null = null,
): boolean {
  run.enterSchema();
  const isTracked = node.finalChecks.length > 0;
  const own = isTracked ? new Evaluated() : evaluated;
  let isMatch = true;
  for (const check of node.checks) {
    if (check(value, place, run, own)) continue;
    isMatch = false;
    if (run.isSilent) break;
  }
  if (isMatch) isMatch = node.finalChecks.every((check) => check(value, place, run, own));
  if (isMatch && isTracked && own) evaluated?.merge(own, run);
  run.leaveSchema();
  return isMatch;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
