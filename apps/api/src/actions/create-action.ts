import { randomUUID } from 'node:crypto';
import type { ActionError, ActionSuccess, Actions } from '@carillon/contract/actions/index';
import { findCaller } from '../auth/find-caller.ts';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { userKey } from '../limits/keys.ts';
import { ACTION_RATE_LIMITS, getEffectiveLimit, type RateLimit } from '../limits/rates.ts';
import { recordRejection } from '../limits/rejections.ts';
import { tooManyRequests, toRateLimitState } from '../limits/windows.ts';
import { assertNotInMaintenance } from '../settings/maintenance.ts';
import { toActionError } from './errors.ts';
import type { ArgumentReader } from './input.ts';

/** An admitted call. */
export interface Call {
  /** With a request id of its own, for logs, events and the audit log. */
  ctx: Context;
  caller: Caller;
}

/** Arguments are of any type until they are read. */
type Action<D> = (session: unknown, ...given: unknown[]) => Promise<ActionSuccess<D> | ActionError>;

type Readers<A extends readonly unknown[]> = { [I in keyof A]: ArgumentReader<A[I]> };
type Work<A extends readonly unknown[], D> = (call: Call, ...args: A) => Promise<D>;

/** Creates an action from the readers of its arguments and the work that it does for an admitted call. */
type CreateAction = <const A extends readonly unknown[], D>(
  name: keyof Actions,
  readers: Readers<A>,
  work: Work<A, D>,
) => Action<D>;

/** Creates actions for users, and for admins, who need no admin key here. */
export interface ActionBuilder {
  user: CreateAction;
  admin: CreateAction;
}

/** No session token is longer, and the cost of verifying one grows with its length. */
const MAX_TOKEN_LENGTH = 4096;

/**
 * As over HTTP, a call is counted by the query that finds its session, rejected over its rate limit, during maintenance
 * and without the role, and only then read. Actions never throw: errors are returned.
 */
export function createActionBuilder(ctx: Context): ActionBuilder {
  async function admit(name: keyof Actions, call: Context, session: unknown): Promise<Caller> {
    const rate = findRateLimit(name);
    const token = typeof session === 'string' && session.length <= MAX_TOKEN_LENGTH ? session : null;
    const claims = token === null ? null : call.tokens.verify(token, call.now());
    const count =
      rate && claims
        ? { key: userKey(rate, claims.userId), windowMs: rate.windowSeconds * 1000, at: call.now() }
        : null;
    const found = claims && (await findCaller(call, claims, { count }));
    if (!found) throw new AppError('unauthenticated', 'Sign in first.');
    const { caller, window, maintenance } = found;
    const state = rate && window && toRateLimitState(getEffectiveLimit(call, rate), window);
    if (rate && state?.isExceeded) {
      await recordRejection(call, rate.bucket, { userId: caller.id, endpoint: rate.bucket });
      throw tooManyRequests(state, call.now());
    }
    assertNotInMaintenance(maintenance, caller);
    return caller;
  }

  const createAction =
    (access: keyof ActionBuilder): CreateAction =>
    <const A extends readonly unknown[], D>(name: keyof Actions, readers: Readers<A>, work: Work<A, D>): Action<D> =>
    async (session, ...given) => {
      const startedAt = performance.now();
      const requestId = randomUUID();
      const log = ctx.log.child({ requestId, action: name });
      const call = { ...ctx, requestId, log };
      let userId: number | undefined;
      let result: ActionSuccess<D> | ActionError;
      try {
        const caller = await admit(name, call, session);
        userId = caller.id;
        if (access === 'admin' && caller.role !== 'ADMIN') {
          throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
        }
        const list: readonly ArgumentReader<unknown>[] = readers;
        const args = list.map((read, i) => read(given[i])) as unknown as A;
        result = { success: true, data: await work({ ctx: call, caller }, ...args) };
      } catch (error) {
        result = toActionError(error, log);
      }
      const code = result.success ? undefined : (result.code ?? 'INVALID');
      log.info({ userId, code, ms: Math.round(performance.now() - startedAt) }, 'action');
      return result;
    };
  return { user: createAction('user'), admin: createAction('admin') };
}

const findRateLimit = (name: keyof Actions): RateLimit | null =>
  (ACTION_RATE_LIMITS as Partial<Record<string, RateLimit>>)[name] ?? null;
