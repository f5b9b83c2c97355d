import type { Operation } from './document.ts';

const HEADER = 'Idempotency-Key';

const PARAMETER = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Makes a repetition safe: the same key with the same body gets the first answer again, with `Idempotent-Replayed: true`, and nothing runs twice. A key is yours, belongs to this path, and is remembered for 24 hours unless the installation says otherwise.',
  examples: ['morning-news-2026-11-20'],
};

/** The header of a route that takes it, for the schema of its operation. */
export function describeIdempotency(takesKey: boolean, headers: unknown): object {
  if (!takesKey) return {};
  const { properties = {}, ...others } = (headers ?? { type: 'object' }) as { properties?: object };
  return { headers: { ...others, properties: { ...properties, [HEADER]: PARAMETER } } };
}

/** Whether the answer is stored and repeated: an operation that only reads takes the header and keeps nothing. */
export const repeatsAnswer = ({ responses = {} }: Operation): boolean => '422' in responses;
