import type { OutputSchema } from '@carillon/db';
import type { Validity } from '@carillon/json-schema/compile';
import { findCompiledSchema } from '@carillon/json-schema/known-schemas';
import { SchemaError } from '@carillon/json-schema/schema-node';

/** Parsing more would delay other requests. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_DEPTH = 64;
const MAX_VALUES = 50_000;

type ReadOutput =
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

/** How many parts of a text are tried. */
const MAX_SPANS = 50;
const MAX_UNCLOSED = 5;

type FoundJson = { ok: true; text: string; value: unknown } | { ok: false; problem: string };

/**
 * Reads an answer that is JSON, or that has one JSON object with prose or Markdown around it. Reads the text a few
 * times only, whatever it is.
 */
export function findJson(answer: string): FoundJson {
  const whole = parse(answer.trim());
  if (whole) return { ok: true, ...whole };
  const objects = findSpans(answer)
    .map(parse)
    .filter((found) => found !== null)
    .filter(({ value }) => typeof value === 'object' && !Array.isArray(value));
  const [only, ...others] = objects;
  if (only === undefined) return { ok: false, problem: 'The answer is not JSON' };
  return others.length > 0 ? { ok: false, problem: 'The answer has more than one JSON object' } : { ok: true, ...only };
}

function parse(text: string): { text: string; value: unknown } | null {
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** The outermost parts in braces or brackets. An opening one without its end is taken for prose. */
function findSpans(text: string): string[] {
  const spans: string[] = [];
  let at = nextOpening(text, 0);
  for (let unclosed = 0; at !== -1 && unclosed < MAX_UNCLOSED && spans.length < MAX_SPANS; ) {
    const end = findEnd(text, at);
    if (end === -1) unclosed += 1;
    else spans.push(text.slice(at, end));
    at = nextOpening(text, end === -1 ? at + 1 : end);
  }
  return spans;
}

function nextOpening(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (isOpening(text.charCodeAt(at))) return at;
  return -1;
}

/** The index after the brace or bracket that closes the one at `start`; -1 without one. */
function findEnd(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) isInString = !isInString;
    else if (isInString) continue;
    else if (isOpening(code)) depth += 1;
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return -1;
}

const [QUOTE, BACKSLASH, CLOSING_BRACE, CLOSING_BRACKET] = [0x22, 0x5c, 0x7d, 0x5d];
const isOpening = (code: number) => code === 0x7b || code === 0x5b;
