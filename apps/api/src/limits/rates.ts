/** Whose requests share a counter. An administrator is a user to the counter. */
export type Scope = 'user' | 'admin' | 'ip' | 'ip+email' | 'ip+token';

export interface RateLimit {
  /** The row as the specification writes it, and the name of its counters: two rates never share one by accident. */
  bucket: string;
  /** Requests in a window, before `RATE_LIMIT_MULTIPLIER`. */
  limit: number;
  windowSeconds: number;
  scope: Scope;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

const rate = (bucket: string, limit: number, windowSeconds: number, scope: Scope): RateLimit => ({
  bucket,
  limit,
  windowSeconds,
  scope,
});

/**
 * Specification "Rate limits (REST)", row by row; each has counters of its own. `:id` stands for a parameter of a
 * route, `*` for whatever a route has there. The last row is that of its "Specific cases" for the inbound webhook path.
 */
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

/** Specification "Webhook deliveries", counted by webhook: those beyond it wait (decisions §8). */
export const DELIVERIES = { limit: 100, windowSeconds: MINUTE } as const;

/** Specification "Other authenticated endpoints": one counter for all of them (decisions §10). */
export const OTHER_ENDPOINTS = rate('other endpoints', 100, MINUTE, 'user');

/**
 * One counter for all other public endpoints (decisions §10), for routes that do not exist, and for requests that come
 * without a session or a scheduler secret where one is needed, so that guessing is bounded.
 */
export const PUBLIC_ENDPOINTS = rate('public endpoints', 100, MINUTE, 'ip');

/**
 * Bounds what one address may send to an endpoint that is limited by e-mail or token too. The field is of the caller's
 * choice: without this, a new one in each request would buy any number of password hashes. Enough for a crowd that
 * shares an address, and 3 % of a core.
 */
export const ANY_FIELD_LIMIT = 300;

/** The rate of an address at such an endpoint, whatever the field says. */
export const addressOnly = ({ bucket }: RateLimit): RateLimit =>
  rate(`${bucket} from one address`, ANY_FIELD_LIMIT, MINUTE, 'ip');

/** Sign-ins to one account from all addresses together; `auth/guesses.ts` says who gets through beyond it. */
export const ACCOUNT_LOGINS = rate('sign-in to one account', 100, 15 * MINUTE, 'ip+email');

/** Tries of a signed-in user at the current password of the account, to change it. */
export const PASSWORD_ATTEMPTS = rate('change of the password', 5, 15 * MINUTE, 'user');

/** Other e-mail addresses that a user takes, or tries to take, for the account. */
export const EMAIL_CHANGES = rate('change of the e-mail address', 5, HOUR, 'user');

/** Specification "Rate limits (server actions, per user)". The other actions are not limited. */
export const ACTION_RATE_LIMITS = {
  createTask: rate('action createTask', 10, MINUTE, 'user'),
  executeTask: rate('action executeTask', 30, MINUTE, 'user'),
  updateTask: rate('action updateTask', 20, MINUTE, 'user'),
  getExecutions: rate('action getExecutions', 100, MINUTE, 'user'),
} as const satisfies Record<string, RateLimit>;

/** A limit as it is in force: scaled by `RATE_LIMIT_MULTIPLIER`, rounded, and at least 1 (decisions §1). */
export const effectiveLimit = ({ config }: Scaled, { limit }: Pick<RateLimit, 'limit'>): number =>
  Math.max(1, Math.round(limit * config.rateLimitMultiplier));

interface Scaled {
  config: { rateLimitMultiplier: number };
}

const EXEMPT = /^(GET|HEAD) \/($|api\/health(\/(live|ready))?$|api\/docs$|api\/docs\/|images\/|styles\/)/;

/** Whether a path is exempt from limits: those that the specification names, and the probes of load balancers. */
export const isExempt = (method: string, path: string): boolean => EXEMPT.test(`${method} ${path}`);

/** The rate of a route, by its method, its pattern and who may call it; null where there is none. */
export function findRateLimit(method: string, url: string, access: string | undefined): RateLimit | null {
  if (isExempt(method, url)) return null;
  const row = RATE_LIMITS.find(({ bucket }) => fits(bucket, `${method} ${url}`));
  if (row) return row;
  // The scheduler calls as often as it likes; `http/access.ts` counts the wrong secrets.
  if (access === 'cron') return null;
  return access === 'public' ? PUBLIC_ENDPOINTS : OTHER_ENDPOINTS;
}

function fits(row: string, endpoint: string): boolean {
  const given = endpoint.split(/ ?\//);
  const wanted = row.split(/ ?\//);
  if (given.length !== wanted.length) return false;
  return wanted.every(
    (word, at) => word === '*' || word === given[at] || (isParameter(word) && isParameter(given[at])),
  );
}

const isParameter = (word: string | undefined) => word?.startsWith(':') === true;
