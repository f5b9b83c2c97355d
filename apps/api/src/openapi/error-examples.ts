import { accessOf, type Media, type Placed } from './document.ts';

type Said = string | Record<string, unknown> | undefined;
type Details = Record<string, string[]> | null;

/** Standing in for an instant of the story that the examples tell. */
const RESET_AT = Date.parse('2026-11-20T09:16:09.000Z');

/** The body of a refusal: in the envelope of its schema, with the words that the contract's example has for it. */
export function refusalExample(placed: Placed, status: number, media: Media, said: Said, details: Details): unknown {
  if (typeof said === 'object') return said;
  const standard = standardBody(placed, status, said, details);
  switch (media.schema?.$ref?.split('/').at(-1)) {
    case 'NotValid':
      return { valid: false, error: said ?? standard.error };
    case 'BareError': {
      const { success: _, ...bare } = standard;
      return status === 429 || status === 500
        ? { error: bare.error, message: bare.message }
        : { error: said ?? bare.error };
    }
    default:
      return standard;
  }
}

function standardBody(placed: Placed, status: number, said: string | undefined, details: Details) {
  const refusal = (error: string, message?: string) => ({ success: false, error, ...(message ? { message } : {}) });
  switch (status) {
    case 400:
      if (details) return { ...refusal('Validation error', 'The request is not valid.'), details };
      return refusal('Invalid address', 'The path is not valid percent-encoded UTF-8.');
    case 401:
      return refusal('Unauthorized', said ?? 'Sign in first: send the session cookie or a bearer token.');
    case 402:
      return { ...refusal('Quota exceeded', 'The trial has ended.'), details: TRIAL_ENDED };
    case 403:
      if (accessOf(placed.operation) === 'admin') return refusal('Unauthorized', 'Admin access required');
      return refusal(said ?? 'This request comes from another site.');
    case 429:
      return limitBody(placed);
    case 500:
      return refusal('Internal server error', 'Something went wrong on our side.');
    case 503:
      return refusal('Service unavailable', said ?? 'The service is under maintenance. Please try again later.');
    default:
      return refusal(said ?? 'Not found');
  }
}

const TRIAL_ENDED = { resource: 'trial', used: null, limit: null, resetAt: null };

/** Specification "Rate-limit response", with the top-level `retryAfter` of its authentication variant. */
function limitBody({ path, operation }: Placed) {
  const limit = operation['x-rate-limit']?.limit ?? 100;
  const seconds = 42;
  return {
    success: false,
    error: 'Rate limit exceeded',
    message: `Too many requests. Please try again in ${seconds} seconds.`,
    details: { limit, remaining: 0, reset: RESET_AT, resetIn: seconds, retryAfter: seconds },
    ...(path.startsWith('/api/auth/') ? { retryAfter: seconds } : {}),
  };
}
