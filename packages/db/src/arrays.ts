const TOKENS = /[{}]|"((?:[^"\\]|\\.)*)"|[^{},"]+/gs;

const asText = (element: string): unknown => element;
const asNumber = (element: string): unknown => Number(element);
const asBoolean = (element: string): unknown => element === 't';

/** How the elements of PostgreSQL's own array types are read, by the type's OID; wide numbers stay text as elsewhere. */
const ELEMENTS: Record<number, (element: string) => unknown> = {
  1000: asBoolean,
  1005: asNumber,
  1007: asNumber,
  1009: asText,
  1015: asText,
  1016: asText,
  1021: asNumber,
  1022: asNumber,
  1231: asText,
  2951: asText,
};

/**
 * Parsers of the array types, for the driver's `parsers`. The driver could ask each new connection for them, but a
 * connection that breaks during that question ends the process with a rejection that nobody can catch.
 */
export const ARRAY_PARSERS: Record<number, (text: string) => unknown> = Object.fromEntries(
  Object.entries(ELEMENTS).map(([oid, read]) => [oid, (text: string) => parseArray(text, read)]),
);

/** An array as PostgreSQL writes it, `{a,"b c",NULL}`; nested ones too. */
export function parseArray(text: string, read: (element: string) => unknown): unknown {
  const outer: unknown[] = [];
  const open = [outer];
  for (const [token, quoted] of text.matchAll(TOKENS)) {
    const current = open.at(-1) as unknown[];
    if (token === '{') {
      const inner: unknown[] = [];
      current.push(inner);
      open.push(inner);
    } else if (token === '}') open.pop();
    else if (quoted !== undefined) current.push(read(quoted.replace(/\\(.)/gs, '$1')));
    else current.push(token === 'NULL' ? null : read(token));
  }
  return outer[0];
}
