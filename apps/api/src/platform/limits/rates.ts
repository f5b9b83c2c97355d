import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which requests share a counter. Administrators are counted like users. */
export type Scope = 'user' | 'admin' | 'ip' | 'ip+email' | 'ip+token';

export interface RateLimit {
  bucket: string;
  /** Requests in a window, before `RATE_LIMIT_MULTIPLIER`. */
  limit: number;
  windowSeconds: number;
  scope: Scope;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const rate = (bucket: string, limit: number, windowSeconds: number, scope: Scope): RateLimit => ({
  bucket,
  limit,
  windowSeconds,
  scope,
});

/** `:id` matches a parameter of a route, `*` any part of its path. */
export const RATE_LIMITS: readonly RateLimit[] = [
  rate('POST /api/auth/login', 5, 15 * MINUTE, 'ip+email'),
  rate('POST /api/auth/register', 3, HOUR, 'ip'),
  rate('POST /api/auth/forgot-password', 3, HOUR, 'ip+email'),
  rate('POST /api/auth/reset-password', 5, HOUR, 'ip+token'),
  rate('GET /api/auth/session', 60, MINUTE, 'user'),
  rate('POST /api/agent/create-task', 10, MINUTE, 'user'),
  rate('GET /api/tasks', 100, MINUTE, 'user'),
  rate('GET /api/tasks/:id', 120, MINUTE, 'user'),
  rate('PATCH /api/tasks/:id', 20, MINUTE, 'user'),
  rate('DELETE /api/tasks/:id', 10, MINUTE, 'user'),
  rate('POST /api/agent/confirm-task', 10, MINUTE, 'user'),
  rate('POST /api/agent/process', 30, MINUTE, 'user'),
  rate('POST /api/tasks/:id/execute', 20, MINUTE, 'user'),
  rate('GET /api/executions', 100, MINUTE, 'user'),
  rate('GET /api/executions/:id', 150, MINUTE, 'user'),
  rate('POST /api/upload', 10, MINUTE, 'user'),
  rate('DELETE /api/upload', 20, MINUTE, 'user'),
  rate('POST /api/integrations/*/validate', 5, MINUTE, 'user'),
  rate('POST /api/coupons/activate', 5, HOUR, 'user'),
  rate('GET /api/admin/stats', 60, MINUTE, 'admin'),
  rate('GET /api/admin/users', 100, MINUTE, 'admin'),
  rate('POST /api/admin/coupons', 20, MINUTE, 'admin'),
  rate('PATCH /api/admin/users/*', 30, MINUTE, 'admin'),
  rate('POST /api/webhooks', 5, MINUTE, 'user'),
  rate('POST /api/webhooks/*/test', 10, MINUTE, 'user'),
  rate('* /api/webhooks/:userId/:secret', 100, MINUTE, 'ip'),
];

/** Deliveries beyond the limit wait. */
export const DELIVERIES = { limit: 100, windowSeconds: MINUTE } as const;

/** One counter of a user for all routes without a row. */
export const OTHER_ENDPOINTS = rate('other endpoints', 100, MINUTE, 'user');

/** Pages of the dashboard, with those that refresh themselves. */
export const PAGE_VIEWS = rate('dashboard', 600, MINUTE, 'user');

/** Requests to the MCP server; calls of tools also count towards the routes that they stand for. */
export const MCP_REQUESTS = rate('POST /mcp', 600, MINUTE, 'user');

/** Of assistants, which need no sign-in for it. */
export const CLIENT_REGISTRATIONS = rate('POST /oauth/register', 10, HOUR, 'ip');

/** Also counts unknown routes, and requests without the needed session or secret. */
export const PUBLIC_ENDPOINTS = rate('public endpoints', 600, MINUTE, 'ip');

/** Bounds the password hashes of one address, which can send a new e-mail address in each request. */
export const ANY_FIELD_LIMIT = 300;

export const toAddressLimit = ({ bucket }: RateLimit): RateLimit =>
  rate(`${bucket} from one address`, ANY_FIELD_LIMIT, MINUTE, 'ip');

/** From all addresses together; see `auth/throttle-login.ts`. */
export const ACCOUNT_LOGINS = rate('sign-in to one account', 100, 15 * MINUTE, 'ip+email');

/**
 * Reset mails to one e-mail address, from all requests; see `auth/password-reset.ts`. Beyond the second limit, the
 * first request of each hour is still mailed.
 */
export const RESET_MAILS = rate('reset mails to one address', 3, HOUR, 'ip+email');
export const RESET_MAILS_PER_DAY = rate('reset mails to one address in a day', 10, DAY, 'ip+email');

export const PASSWORD_ATTEMPTS = rate('change of the password', 5, 15 * MINUTE, 'user');

/** Wrong codes of an account, over all its sign-ins and confirmations. */
export const FACTOR_CODES = rate('codes of the second factor', 30, HOUR, 'user');

/** Mails that ask the owner of an address to confirm it: to one address, from all users, and caused by one user. */
export const CONFIRMATIONS_TO_ADDRESS = rate('confirmation mails to one address', 5, DAY, 'ip+email');
export const CONFIRMATIONS_OF_USER = rate('confirmation mails of one user', 20, DAY, 'user');

/** Each is mailed. */
export const API_KEY_CREATIONS = rate('creation of API keys', 30, HOUR, 'user');

/** Each reads all data of an account. */
export const ACCOUNT_EXPORTS = rate('export of an account', 5, HOUR, 'user');

/** Exports and imports, each of up to 16 MiB. */
export const TASK_FILES = rate('files of tasks', 60, MINUTE, 'user');

/** Each waits for another service. */
export const CHANNEL_TESTS = rate('test of a channel', 10, MINUTE, 'user');

/** Each reads up to five sites. */
export const SOURCE_PREVIEWS = rate('preview of sources', 10, MINUTE, 'user');
/** Each is fetched from the address that a program gives. */
export const CLIENT_DOCUMENTS = rate('documents of assistants', 30, MINUTE, 'user');

/** Of one feed, from all addresses. What has not changed since the last read does not count. */
export const FEED_READS = rate('reads of one feed', 60, MINUTE, 'ip+token');

export const EMAIL_CHANGES = rate('change of the e-mail address', 5, HOUR, 'user');

export const ACTION_RATE_LIMITS = {
  createTask: rate('action createTask', 10, MINUTE, 'user'),
  executeTask: rate('action executeTask', 30, MINUTE, 'user'),
  updateTask: rate('action updateTask', 20, MINUTE, 'user'),
  getExecutions: rate('action getExecutions', 100, MINUTE, 'user'),
} as const satisfies Record<string, RateLimit>;

export const getEffectiveLimit = ({ config }: Scaled, { limit }: Pick<RateLimit, 'limit'>): number =>
  Math.max(1, Math.round(limit * config.rateLimitMultiplier));

interface Scaled {
  config: { rateLimitMultiplier: number };
}

const EXEMPT = /^(GET|HEAD) \/($|api\/health(\/(live|ready))?$|api\/docs$|api\/docs\/|images\/|styles\/)/;

export const isExempt = (method: string, path: string): boolean => EXEMPT.test(`${method} ${path}`);

/** HEAD counts as GET. */
export function findRateLimit(method: string, url: string, access: string | undefined): RateLimit | null {
  if (isExempt(method, url)) return null;
  const counted = method === 'HEAD' ? 'GET' : method;
  const row = [...RATE_LIMITS, CLIENT_REGISTRATIONS].find(({ bucket }) => matches(bucket, `${counted} ${url}`));
  if (row) return row;
  // The guard counts wrong secrets, and the actions of the dashboard its pages.
  if (access === 'cron' || access === 'page') return null;
  if (access === 'key') return MCP_REQUESTS;
  return access === 'public' ? PUBLIC_ENDPOINTS : OTHER_ENDPOINTS;
}

function matches(row: string, endpoint: string): boolean {
  const given = endpoint.split(/ ?\//);
  const wanted = row.split(/ ?\//);
  if (given.length !== wanted.length) return false;
  return wanted.every(
    (word, at) => word === '*' || word === given[at] || (isParameter(word) && isParameter(given[at])),
  );
}

const isParameter = (word: string | undefined) => word?.startsWith(':') === true;

/** A key of `userKey` without the id, which the database appends if only it knows the user. */
const userKeyPrefix = ({ bucket }: RateLimit): string => `${bucket} user `;

export const userKey = (rate: RateLimit, userId: number): string => userKeyPrefix(rate) + userId;

export const addressKey = ({ bucket }: RateLimit, address: string): string => `${bucket} ${getClientNetwork(address)}`;

/** All values other than text count as one. The hash hides the value and bounds the key. */
export function fieldKey(rate: RateLimit, address: string, body: unknown): string {
  const name = rate.scope === 'ip+email' ? 'email' : 'token';
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  if (typeof value !== 'string') return addressKey(rate, address);
  return `${addressKey(rate, address)} ${hash(name === 'email' ? normalizeEmail(value) : value)}`;
}

export const emailKey = ({ bucket }: RateLimit, email: string): string => `${bucket} ${hash(normalizeEmail(email))}`;

const hash = (text: string) => createHash('sha256').update(text).digest('base64url');

/** In UTF-16 units. No valid address is longer, and normalizing a megabyte takes a tenth of a second. */
const MAX_EMAIL_LENGTH = 2 * 254;

/** Returns one spelling for all that lead to the same account, such as full-width letters. */
const normalizeEmail = (email: string) =>
  email.length > MAX_EMAIL_LENGTH ? email : email.normalize('NFKC').trim().toLowerCase().normalize('NFKC');

/** Returns the /64 of an IPv6 address, because a client chooses the rest. Texts that are not an address count as one. */
export function getClientNetwork(address: string): string {
  const bare = withoutPort(address).replace(/%.*$/s, '');
  // ipaddr.js also takes 127.1, octal and hexadecimal.
  if (isIP(bare) === 0) return 'unknown';
  const parsed = ipaddr.process(bare);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Some proxies forward the port, which is new for each connection. */
const withoutPort = (address: string) =>
  /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? /^\[(.+)\](:\d+)?$/.exec(address)?.[1] ?? address;
