import type { OutputSchema } from '@carillon/db';
import type { Validity } from '@carillon/json-schema/compile';
import { findCompiledSchema } from '@carillon/json-schema/known-schemas';
import { SchemaError } from '@carillon/json-schema/schema-node';
import { findJson } from './find-json.ts';

/** Parsing more would delay other requests. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_DEPTH = 64;
const MAX_VALUES = 50_000;

export type ReadOutput =
  | { ok: true; output: unknown /** The JSON as answered. */; text: string }
  /** `isHopeless`: another answer would not be better. */
  | { ok: false; problems: string[]; isHopeless: boolean };

/** Parses an answer and checks it. Takes at most some 50 ms. */
export function readOutput(answer: string, schema: OutputSchema): ReadOutput {
  if (answer.length > MAX_CHARACTERS) {
    return { ok: false, problems: [`The answer has more than ${MAX_CHARACTERS} characters.`], isHopeless: true };
  }
  const found = findJson(answer);
  if (!found.ok) return { ok: false, problems: [`${found.problem}.`], isHopeless: false };
  const unstorable = findUnstorable(found.value);
  if (unstorable) return { ok: false, problems: [`The answer ${unstorable}.`], isHopeless: false };
  const { problems, gaveUp } = check(found.value, schema);
  if (problems.length === 0) return { ok: true, output: found.value, text: found.text };
  const described = problems.map(({ path, message }) => `${path === '' ? 'The object' : path} ${message}.`);
  return { ok: false, problems: described, isHopeless: gaveUp };
}

function check(value: unknown, schema: OutputSchema): Validity {
  try {
    return findCompiledSchema(schema).check(value);
  } catch (error) {
    // It was saved under other limits.
    if (!(error instanceof SchemaError)) throw error;
    return { problems: [{ path: error.field, message: error.message }], gaveUp: true };
  }
}

/** What PostgreSQL or the stack cannot handle. Iterative, because the depth is unknown. */
function findUnstorable(root: unknown): string | null {
  const stack: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  let values = 1;
  for (let at = stack.pop(); at; at = stack.pop()) {
    const { value, depth } = at;
    if (typeof value === 'number' && !Number.isFinite(value)) return 'has a number that is too large';
    if (typeof value === 'string' && !isStorable(value)) return UNSTORABLE_TEXT;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
    const children = Object.values(value);
    values += children.length;
    if (values > MAX_VALUES) return `has more than ${MAX_VALUES} values`;
    if (!Array.isArray(value) && !Object.keys(value).every(isStorable)) return UNSTORABLE_TEXT;
    for (const child of children) stack.push({ value: child, depth: depth + 1 });
  }
  return null;
}

const UNSTORABLE_TEXT = 'has a NUL character or half a surrogate pair';
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();
