import { ActionClient, type ActionError, type ActionResult } from '@carillon/contract/actions/index';
import type { WebAction } from '@carillon/contract/actions/web/define';
import {
  type AnswerStream,
  type ConfirmationRequired,
  type OpenedSession,
  type Viewer,
  WEB_ACTIONS,
  type WebActionInput,
  type WebActionName,
} from '@carillon/contract/actions/web/index';
import type { Static } from '@sinclair/typebox';
import type { Logger } from 'pino';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import {
  findRateLimit,
  PAGE_VIEWS,
  PUBLIC_ENDPOINTS,
  type RateLimit,
  userKey,
} from '../../../platform/limits/rates.ts';
import { assertRateLimit } from '../../../platform/limits/windows.ts';
import { assertNotInMaintenance, authorize, isMaintenance } from '../../../product/auth/authorize.ts';
import { assertConfirmed } from '../../../product/auth/confirm-session.ts';
import { readPageState } from '../../../product/notifications/page-state.ts';
import { admit, countGuest } from '../admit.ts';
import { toActionError } from '../errors.ts';
import { readInput } from '../input.ts';
import type { Call } from '../mappings.ts';
import { runAction, runActionWith } from '../run-action.ts';
import { createOpenedSession, readOpenedSession } from './opened-session.ts';
import { type Plain, toPlain } from './plain.ts';

type Client = Static<typeof ActionClient>;
type NameOf<A> = { [K in WebActionName]: (typeof WEB_ACTIONS)[K]['access'] extends A ? K : never }[WebActionName];

interface Options {
  /** The route that does the same, as `POST /api/webhooks`: the action counts towards its rate limit. */
  as?: string;
  /** Whether it also works during maintenance. */
  duringMaintenance?: boolean;
  /** False for an input that cannot be copied through JSON, such as a stream: the action checks it. Default: true. */
  isPlain?: boolean;
}

interface GuestOptions extends Options {
  /** Whether an action without a limit of its own counts towards the limit of public endpoints. Default: true. */
  isCounted?: boolean;
}

/** An action that returns what its function returns, with instants as texts. */
type Action<First, K extends WebActionName, D> = (
  first: First,
  input: WebActionInput<K>,
  stream?: AnswerStream,
) => Promise<
  ActionResult<Plain<D>> | ((typeof WEB_ACTIONS)[K]['access'] extends 'admin' ? ConfirmationRequired : never)
>;

/** Creates actions by the input and the access that the contract defines for their names. */
export interface WebActionBuilder {
  signedIn<K extends NameOf<'user' | 'admin'>, D>(
    name: K,
    work: (call: Call, input: WebActionInput<K>) => Promise<D>,
    options?: Options,
  ): Action<OpenedSession | string | null, K, D>;
  guest<K extends NameOf<'guest'>, D>(
    name: K,
    work: (ctx: Context, input: WebActionInput<K>) => Promise<D>,
    options?: GuestOptions,
  ): Action<Client, K, D>;
  /** Finds the session of a token, and counts a view of a page. */
  openSession(token: string | null, client: Client): Promise<ActionResult<{ session: OpenedSession; viewer: Viewer }>>;
}

const readClient = readInput(ActionClient, 'client');

export function createWebActionBuilder(ctx: Context): WebActionBuilder {
  return {
    signedIn(name, work, { as, isPlain = true } = {}) {
      const {
        access,
        input: schema,
        needsConfirmation,
        isOpenWithoutFactor,
      } = WEB_ACTIONS[name] as WebAction & { access: 'user' | 'admin' };
      const rate = as === undefined ? null : findLimit(as, access);
      const read = isPlain ? readInput(schema) : (given: unknown) => given;
      const action = (session: unknown, given: unknown, stream?: AnswerStream) =>
        runActionWith(describeError, ctx, name, async (ctx, line) => {
          const opened = readOpenedSession(session);
          const { caller } = opened ?? (await admit(ctx, session, { access, rate, isOpenWithoutFactor }));
          line.userId = caller.id;
          // The page was counted when it opened the session; its actions are refused before they are counted.
          if (opened) authorize(opened, { access, isOpenWithoutFactor });
          if (needsConfirmation) assertConfirmed(ctx, caller);
          if (opened && rate) {
            await assertRateLimit(ctx, rate, userKey(rate, caller.id), { userId: caller.id, endpoint: rate.bucket });
          }
          const callCtx = { ...ctx, via: 'page' as const, ...(opened && { origin: opened.origin }) };
          const call = { ctx: callCtx, caller, ...(stream && { stream }) };
          return toPlain(await work(call, read(given, call) as never));
        });
      return action as never;
    },

    guest(name, work, { as, duringMaintenance = false, isCounted = true } = {}) {
      const rate = as === undefined ? (isCounted ? PUBLIC_ENDPOINTS : null) : findLimit(as, 'public');
      const read = readInput(WEB_ACTIONS[name].input);
      const action = (client: unknown, given: unknown) =>
        runAction(ctx, name, async (ctx) => {
          const origin = readClient(client);
          if (rate) await countGuest(ctx, rate, origin.address, given);
          if (!duringMaintenance) assertNotInMaintenance(await isMaintenance(ctx), null);
          return toPlain(await work({ ...ctx, origin }, read(given) as never));
        });
      return action as never;
    },

    openSession: (token, client) =>
      runAction(ctx, 'openSession', async (ctx, line) => {
        const origin = readClient(client);
        const found = await admit(ctx, token, { access: 'user', rate: PAGE_VIEWS, isOpenWithoutFactor: true });
        const { caller, isFactorMissing } = found;
        line.userId = caller.id;
        const { id, name, email, role, timezone, language, sessionId } = caller;
        if (sessionId === null) throw new Error('openSession needs the token of a session.');
        const session = createOpenedSession({ ...found, origin });
        const viewer = {
          ...{ id, name, email, role, timezone, language, sessionId, isFactorMissing },
          ...(await readPageState(ctx, id)),
        };
        return { session, viewer };
      }),
  };
}

function describeError(error: unknown, log: Logger): ActionError | ConfirmationRequired {
  if (!(error instanceof AppError && error.kind === 'not_confirmed')) return toActionError(error, log);
  return { success: false, error: error.message, code: 'CONFIRMATION_REQUIRED' };
}

/** Throws if no route has a limit of its own under this name. */
function findLimit(route: string, access: string): RateLimit {
  const [method = '', url = ''] = route.split(' ');
  const found = findRateLimit(method, url, access);
  if (found?.bucket !== route) throw new Error(`${route} has no rate limit of its own.`);
  return found;
}
