import type { FastifyRequest } from 'fastify';

/** The fields of a submitted form. */
export interface Form {
  /** Empty if there is no such field; the last one if there are several. Line breaks are `\n`. */
  text(name: string): string;
  /** Undefined for an empty field. */
  optional(name: string): string | undefined;
  has(name: string): boolean;
  /** All fields of a name, such as ticked boxes. */
  list(name: string): string[];
}

export function readForm({ body }: Pick<FastifyRequest, 'body'>): Form {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const list = (name: string) =>
    Object.hasOwn(fields, name)
      ? [fields[name]].flat().filter((value): value is string => typeof value === 'string')
      : [];
  const text = (name: string) => (list(name).at(-1) ?? '').replaceAll('\r\n', '\n');
  return { text, list, optional: (name) => text(name) || undefined, has: (name) => list(name).length > 0 };
}

/** The query of an address, of which only texts count. */
export function readQuery({ query }: Pick<FastifyRequest, 'query'>): Record<string, string> {
  const entries = Object.entries(query as Record<string, unknown>);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
