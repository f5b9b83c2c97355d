import { ActionClient, type ActionName, type ActionResult } from '@carillon/contract/actions/index';
import type { Context } from '../../context.ts';
import { ACTION_RATE_LIMITS, type RateLimit } from '../../platform/limits/rates.ts';
import { assertNotInMaintenance, isMaintenance } from '../../product/auth/authorize.ts';
import { admit, countGuest } from './admit.ts';
import { type ArgumentReader, readInput } from './input.ts';
import type { Call } from './mappings.ts';
import { runAction } from './run-action.ts';

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

/**
 * As over HTTP, a call is counted, rejected over its rate limit, during maintenance and without the role, and only then
 * read. Actions never throw: errors are returned.
 */
export function createActionBuilder(ctx: Context): ActionBuilder {
  const createAction =
    (access: 'user' | 'admin'): CreateAction =>
    <const A extends readonly unknown[], D>(name: ActionName, readers: Readers<A>, work: Work<A, D>): Action<D> =>
    (session, ...given) =>
      runAction(ctx, name, async (ctx, line) => {
        const isOpenWithoutFactor = name === 'logout';
        const { caller } = await admit(ctx, session, { access, rate: findRateLimit(name), isOpenWithoutFactor });
        line.userId = caller.id;
        const call = { ctx, caller };
        const list: readonly ArgumentReader<unknown>[] = readers;
        const args = list.map((read, i) => read(given[i], call)) as unknown as A;
        return work(call, ...args);
      });

  const guest: CreateGuestAction =
    (name, { rate, duringMaintenance = false }, reader, work) =>
    (client, given) =>
      runAction(ctx, name, async (ctx) => {
        const origin = readClient(client);
        if (rate) await countGuest(ctx, rate, origin.address, given);
        if (!duringMaintenance) assertNotInMaintenance(await isMaintenance(ctx), null);
        return work({ ...ctx, origin }, reader(given));
      });

  return { user: createAction('user'), admin: createAction('admin'), guest };
}

const findRateLimit = (name: ActionName): RateLimit | null =>
  (ACTION_RATE_LIMITS as Partial<Record<string, RateLimit>>)[name] ?? null;
