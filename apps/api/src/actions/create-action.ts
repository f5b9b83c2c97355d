import { randomUUID } from 'node:crypto';
import { ActionClient, type ActionName, type ActionResult } from '@carillon/contract/actions/index';
import { findCaller } from '../auth/find-caller.ts';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES } from '../errors.ts';
import { addressKey, fieldKey, userKeyPrefix } from '../limits/keys.ts';
import { ACTION_RATE_LIMITS, getEffectiveLimit, type RateLimit, toAddressLimit } from '../limits/rates.ts';
import { recordRejection } from '../limits/rejections.ts';
import { assertRateLimit, tooManyRequests, toRateLimitState } from '../limits/windows.ts';
import { assertNotInMaintenance, isMaintenance } from '../settings/maintenance.ts';
import type { Call } from './call.ts';
import { toActionError } from './errors.ts';
import { type ArgumentReader, readInput } from './input.ts';

/** Arguments are of any type until they are read. */
type Action<D> = (sessionOrClient: unknown, ...given: unknown[]) => Promise<ActionResult<D>>;

type Readers<A extends readonly unknown[]> = { [I in keyof A]: ArgumentReader<A[I]> };
type Work<A extends readonly unknown[], D> = (call: Call, ...args: A) => Promise<D>;

/** Creates an action from the readers of its arguments and the work that it does for an admitted call. */
type CreateAction = <const A extends readonly unknown[], D>(
  name: ActionName,
  readers: Readers<A>,
  work: Work<A, D>,
) => Action<D>;

interface GuestOptions {
  /** The limit of the route that does the same. */
  rate: RateLimit | null;
  duringMaintenance?: boolean;
}

/** Creates an action without a session, for the client that its first argument describes. */
type CreateGuestAction = <I, D>(
  name: ActionName,
  options: GuestOptions,
  reader: ArgumentReader<I>,
  work: (ctx: Context, input: I) => Promise<D>,
) => Action<D>;

/** Creates actions for users, and for admins, who need no admin key here. */
export interface ActionBuilder {
  user: CreateAction;
  admin: CreateAction;
  guest: CreateGuestAction;
}

const readClient = readInput(ActionClient, 'client');

/** No session token is longer, and the cost of verifying one grows with its length. */
const MAX_TOKEN_LENGTH = 4096;

/**
 * As over HTTP, a call is counted by the query that finds its session, rejected over its rate limit, during maintenance
 * and without the role, and only then read. Actions never throw: errors are returned.
 */
export function createActionBuilder(ctx: Context): ActionBuilder {
  /** Runs `work` with a request id and a log line of its own. `line` collects what the line shows. */
  async function run<D>(name: ActionName, work: (ctx: Context, line: { userId?: number }) => Promise<D>) {
    const startedAt = performance.now();
    const requestId = randomUUID();
    const log = ctx.log.child({ requestId, action: name });
    const line: { userId?: number } = {};
    const result: ActionResult<D> = await work({ ...ctx, requestId, log }, line).then(
      (data) => ({ success: true, data }),
      (error) => toActionError(error, log),
    );
    const code = result.success ? undefined : (result.code ?? 'INVALID');
    log.info({ ...line, code, ms: Math.round(performance.now() - startedAt) }, 'action');
    return result;
  }

  const createAction =
    (access: 'user' | 'admin'): CreateAction =>
    <const A extends readonly unknown[], D>(name: ActionName, readers: Readers<A>, work: Work<A, D>): Action<D> =>
    (session, ...given) =>
      run(name, async (ctx, line) => {
        const caller = await admit(name, ctx, session);
        line.userId = caller.id;
        if (access === 'admin' && caller.role !== 'ADMIN') {
          throw new AppError('not_admin', ERROR_MESSAGES.adminRequired);
        }
        const call = { ctx, caller };
        const list: readonly ArgumentReader<unknown>[] = readers;
        const args = list.map((read, i) => read(given[i], call)) as unknown as A;
        return work(call, ...args);
      });

  const guest: CreateGuestAction =
    (name, { rate, duringMaintenance = false }, reader, work) =>
    (client, given) =>
      run(name, async (ctx) => {
        const { address, userAgent } = readClient(client);
        if (rate) await countGuest(ctx, rate, address, given);
        if (!duringMaintenance) assertNotInMaintenance(await isMaintenance(ctx), null);
        return work({ ...ctx, origin: { address, userAgent } }, reader(given));
      });

  return { user: createAction('user'), admin: createAction('admin'), guest };
}

async function admit(name: ActionName, ctx: Context, session: unknown): Promise<Caller> {
  const rate = findRateLimit(name);
  const token = typeof session === 'string' && session.length <= MAX_TOKEN_LENGTH ? session : null;
  const claims = token === null ? null : ctx.tokens.verify(token, ctx.now());
  const count = rate && { key: userKeyPrefix(rate), windowMs: rate.windowSeconds * 1000, at: ctx.now() };
  const found = claims && (await findCaller(ctx, claims, { count }));
  if (!found) throw new AppError('unauthenticated', 'Sign in first.');
  const { caller, window, maintenance } = found;
  const state = rate && window && toRateLimitState(getEffectiveLimit(ctx, rate), window);
  if (rate && state?.isExceeded) {
    await recordRejection(ctx, rate.bucket, { userId: caller.id, endpoint: rate.bucket });
    throw tooManyRequests(state, ctx.now());
  }
  assertNotInMaintenance(maintenance, caller);
  return caller;
}

/** Counts in the windows of the route that does the same, so that neither can be used to go around the other. */
async function countGuest(ctx: Context, rate: RateLimit, address: string, given: unknown): Promise<void> {
  if (rate.scope !== 'ip+email') return assertRateLimit(ctx, rate, addressKey(rate, address));
  const byAddress = toAddressLimit(rate);
  await assertRateLimit(ctx, byAddress, addressKey(byAddress, address));
  await assertRateLimit(ctx, rate, fieldKey(rate, address, given));
}

const findRateLimit = (name: ActionName): RateLimit | null =>
  (ACTION_RATE_LIMITS as Partial<Record<string, RateLimit>>)[name] ?? null;
