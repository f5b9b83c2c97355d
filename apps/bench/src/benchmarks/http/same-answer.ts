import { deepStrictEqual } from 'node:assert/strict';
import type { LoadRequest } from '../../environment/load.ts';

/** Throws unless both answer with the same body and the same names of headers. */
export async function assertSameAnswer(
  first: { url: string; request: LoadRequest },
  second: { url: string; request: LoadRequest },
): Promise<void> {
  const [one, other] = await Promise.all([read(first), read(second)]);
  deepStrictEqual(one.body, other.body);
  deepStrictEqual(one.headers, other.headers);
}

async function read({ url, request: { path, headers = {} } }: { url: string; request: LoadRequest }) {
  const response = await fetch(`${url}${path}`, { headers });
  if (!response.ok) throw new Error(`${path} answered ${response.status}.`);
  return { body: await response.json(), headers: [...response.headers.keys()].sort() };
}
