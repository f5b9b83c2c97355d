import { randomUUID } from 'node:crypto';
import type { ActionError, ActionSuccess, Actions } from '@carillon/contract/actions';
import { findCaller } from '../auth/find-caller.ts';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { userKey } from '../limits/keys.ts';
import { ACTION_RATE_LIMITS, getEffectiveLimit, type RateLimit } from '../limits/rates.ts';
import { recordRejection } from '../limits/rejections.ts';
import { tooManyRequests, toRateLimitState } from '../limits/windows.ts';
import { assertNotInMaintenance } from '../settings/maintenance.ts';
import { toActionError } from './errors.ts';
import type { Reader } from './input.ts';

/** A call that was let in. */
export interface Call {
  /** With a request id of its own, for logs, events and the audit log. */
  ctx: Context;
  caller: Caller;
}

/** An action as it is called: its arguments are anything until they are read. */
type Action<D> = (session: unknown, ...given: unknown[]) => Promise<ActionSuccess<D> | ActionError>;

type Takes<A extends readonly unknown[]> = { [I in keyof A]: Reader<A[I]> };
type Work<A extends readonly unknown[], D> = (call: Call, ...args: A) => Promise<D>;

/** Makes an action of what it takes and of what it does once the caller is let in and its arguments are read. */
type Door = <const A extends readonly unknown[], D>(
  name: keyof Actions,
  takes: Takes<A>,
  work: Work<A, D>,
) => Action<D>;

/** For users, and for admins, who need no further key in-process. */
export interface ActionBuilder {
  user: Door;
  admin: Door;
}

/**
 * The doors of an application. In the order of the HTTP door a call is counted by the look-up of its session, refused
 * beyond its limit, in maintenance mode and without the role, and only then read. Nothing is ever thrown: what goes
 * wrong is the specification's error object.
 */
export function createActionBuilder(ctx: Context): ActionBuilder {
  async function admit(name: keyof Actions, call: Context, session: unknown): Promise<Caller> {
    const rate = rateOf(name);
    const token = typeof session === 'string' && session.length <= LONGEST_TOKEN ? session : null;
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

  const door =
    (access: keyof ActionBuilder): Door =>
    <const A extends readonly unknown[], D>(name: keyof Actions, takes: Takes<A>, work: Work<A, D>): Action<D> =>
    async (session, ...given) => {
      const began = performance.now();
      const requestId = randomUUID();
      const log = ctx.log.child({ reqId: requestId, action: name });
      const call = { ...ctx, requestId, log };
      let userId: number | undefined;
      let answer: ActionSuccess<D> | ActionError;
      try {
        const caller = await admit(name, call, session);
        userId = caller.id;
        if (access === 'admin' && caller.role !== 'ADMIN')
          throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
        const readers: readonly Reader<unknown>[] = takes;
        const args = readers.map((read, i) => read(given[i])) as unknown as A;
        answer = { success: true, data: await work({ ctx: call, caller }, ...args) };
      } catch (error) {
        answer = toActionError(error, log);
      }
      const code = answer.success ? undefined : (answer.code ?? 'INVALID');
      log.info({ userId, code, ms: Math.round(performance.now() - began) }, 'action');
      return answer;
    };
  return { user: door('user'), admin: door('admin') };
}

/** No token of ours is longer, and verifying one costs as much as it has characters. */
const LONGEST_TOKEN = 4096;

const rateOf = (name: keyof Actions): RateLimit | null =>
  (ACTION_RATE_LIMITS as Partial<Record<string, RateLimit>>)[name] ?? null;
