import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';
import type { Person } from './people.ts';

export interface Call {
  by?: Person;
  headers?: Record<string, string>;
  /** A form or text is sent as it is. */
  body?: unknown;
}

/** Lets the application listen, and returns how it is called. */
export async function openCalls(app: FastifyInstance) {
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  return async (method: string, path: string, { by, headers, body }: Call = {}) => {
    const isRaw = body === undefined || body instanceof FormData;
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { ...(!isRaw && { 'content-type': 'application/json' }), ...by?.headers, ...headers },
      ...(body !== undefined && { body: isRaw || typeof body === 'string' ? (body as string) : JSON.stringify(body) }),
    });
    const { status, headers: answered } = response;
    // biome-ignore lint/suspicious/noExplicitAny: any JSON
    return { status, headers: answered, body: (await response.json()) as any };
  };
}

export type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof openCalls>>>>;

/** What a value may be, where an example would be too exact. */
export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const TEXT = /\S/;
export const INTEGER = Number.isInteger;

/**
 * Requires exactly these fields, at every depth. A pattern or a function stands for the values that it accepts, and a
 * list of one item for one or more such items.
 */
export function assertExact(t: Test, actual: unknown, expected: unknown, name: string): void {
  t.equal(findDifference(actual, expected, 'the body'), null, name);
}

function findDifference(actual: unknown, expected: unknown, at: string): string | null {
  const different = `${at} is ${JSON.stringify(actual)}`;
  if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual) ? null : different;
  if (typeof expected === 'function') return expected(actual) ? null : different;
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected) ? null : different;
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected))
    return different;
  if (Array.isArray(actual)) {
    if (actual.length === 0) return different;
    const [item] = expected as unknown[];
    return findFirst(actual, (value, index) => findDifference(value, item, `${at}.${index}`));
  }
  const fields = expected as Record<string, unknown>;
  const names = [...new Set([...Object.keys(actual), ...Object.keys(fields)])];
  return findFirst(names, (name) => {
    if (!(name in actual)) return `${at} has no ${name}`;
    if (!(name in fields)) return `${at} has the field ${name}`;
    return findDifference((actual as Record<string, unknown>)[name], fields[name], `${at}.${name}`);
  });
}

function findFirst<T>(items: readonly T[], find: (item: T, index: number) => string | null): string | null {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== null) return found;
  }
  return null;
}
