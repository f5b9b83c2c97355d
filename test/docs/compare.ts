import type { Outcome } from './pages.ts';

/**
 * Compares the outcome on a page with the output of its commands; empty if they agree. `…` stands for any text; JSON may
 * leave out fields, and instants always agree.
 */
export function findDifferences({ kind, text }: Outcome, printed: string): string[] {
  if (kind === 'text') return matches(text.trim(), printed.trim()) ? [] : [`printed was: ${printed}`];
  if (kind === 'http') return findMissingLines(text, printed);
  const shown = lines(text).every((line) => line.startsWith('{')) ? lines(text) : [text];
  const answers = lines(printed).slice(-shown.length);
  if (answers.length < shown.length) return [`printed was: ${printed}`];
  return shown.flatMap((one, at) => compareValues('', JSON.parse(one), readJson(answers[at] as string)));
}

const lines = (text: string) => text.trim().split('\n');

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return `no JSON: ${text}`;
  }
}

// Header fields are case-insensitive.
const findMissingLines = (shown: string, printed: string) =>
  lines(shown)
    .filter((line) => !lines(printed).some((other) => matches(line.toLowerCase(), other.trim().toLowerCase())))
    .map((line) => `there is no line ${JSON.stringify(line)} in:\n${printed}`);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function compareValues(path: string, shown: unknown, real: unknown): string[] {
  if (typeof shown === 'string' && typeof real === 'string') {
    const same = (INSTANT.test(shown) && INSTANT.test(real)) || matches(shown, real);
    return same ? [] : [describeDifference(path, shown, real)];
  }
  if (isObject(shown) && isObject(real)) {
    if (Array.isArray(shown) !== Array.isArray(real)) return [describeDifference(path, shown, real)];
    if (Array.isArray(shown) && shown.length !== (real as unknown as unknown[]).length)
      return [describeDifference(path, shown, real)];
    return Object.entries(shown).flatMap(([name, value]) => compareValues(`${path}.${name}`, value, real[name]));
  }
  return Object.is(shown, real) ? [] : [describeDifference(path, shown, real)];
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const describeDifference = (path: string, shown: unknown, real: unknown) =>
  `${path} is shown as ${JSON.stringify(shown)} and was ${JSON.stringify(real)}`;

function matches(shown: string, real: string): boolean {
  const pattern = shown.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.*')}$`, 's').test(real);
}
