import { AppError, type ErrorKind } from '../../../errors.ts';
import { isMaintenance } from '../../../product/auth/authorize.ts';
import { getReset, requestReset, resetPassword } from '../../../product/auth/password-reset.ts';
import { openSession } from '../../../product/auth/sessions.ts';
import { setUp } from '../../../product/auth/setup/first-admin.ts';
import { getSetupState, hasAccounts } from '../../../product/auth/setup/link.ts';
import { logIn, logOut, register } from '../../../product/auth/write.ts';
import { unsubscribe } from '../../../product/deliveries/channels/unsubscribe.ts';
import { confirmEmail, findConfirmation } from '../../../product/users/confirm-email.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const accountActions = ({ signedIn, guest }: WebActionBuilder) => ({
  getSignInState: guest(
    'getSignInState',
    async (ctx) => {
      const [isOn, hasAny] = await Promise.all([isMaintenance(ctx), hasAccounts(ctx)]);
      return { isMaintenance: isOn, hasAccounts: hasAny };
    },
    { isCounted: false, duringMaintenance: true },
  ),

  signIn: guest(
    'signIn',
    async (ctx, input) => {
      const opened = await logIn(ctx, input).catch(readTicket);
      return 'ticket' in opened ? { session: null, ticket: opened.ticket } : { session: opened.token };
    },
    { as: 'POST /api/auth/login', duringMaintenance: true },
  ),

  signUp: guest(
    'signUp',
    async (ctx, input) => {
      const { id } = await register(ctx, input);
      const { token, expiresAt } = await openSession(ctx, id);
      return { session: token, expiresAt };
    },
    { as: 'POST /api/auth/register' },
  ),

  signOut: signedIn('signOut', async ({ ctx, caller }) => {
    await logOut(ctx, caller);
    return null;
  }),

  requestReset: guest(
    'requestReset',
    async (ctx, input) => {
      await requestReset(ctx, input);
      return null;
    },
    { as: 'POST /api/auth/forgot-password' },
  ),

  findReset: guest('findReset', async (ctx, { token }) => ({
    state: await toState(getReset(ctx, token), 'open' as const),
  })),

  resetPassword: guest(
    'resetPassword',
    async (ctx, input) => ({ state: await toState(resetPassword(ctx, input), 'changed' as const) }),
    { as: 'POST /api/auth/reset-password' },
  ),

  findConfirmation: guest('findConfirmation', (ctx, { token }) => findConfirmation(ctx, token)),

  confirmEmail: guest('confirmEmail', async (ctx, { token }) => {
    const confirming = confirmEmail(ctx, token);
    return { confirmed: await confirming.catch(rethrowUnless('link_invalid')) };
  }),

  unsubscribe: guest(
    'unsubscribe',
    async (ctx, { token }) => {
      await unsubscribe(ctx, token);
      return null;
    },
    { duringMaintenance: true },
  ),

  findSetup: guest('findSetup', async (ctx, { token }) => ({ state: await getSetupState(ctx, token) })),

  // Hashes a password for a link only, so it needs no narrower limit.
  setUp: guest('setUp', async (ctx, input) => {
    const [done, { list }] = await Promise.all([setUp(ctx, input), ctx.providers.load()]);
    return { ...done, hasProvider: list.length > 0 };
  }),
});

const RESET_STATES: Partial<Record<ErrorKind, 'invalid' | 'expired' | 'used'>> = {
  reset_token_invalid: 'invalid',
  reset_token_expired: 'expired',
  reset_token_used: 'used',
};

/** Returns `done`, or why the link of a reset cannot be used. */
async function toState<D>(using: Promise<unknown>, done: D): Promise<D | 'invalid' | 'expired' | 'used'> {
  try {
    await using;
    return done;
  } catch (error) {
    const state = error instanceof AppError ? RESET_STATES[error.kind] : undefined;
    if (!state) throw error;
    return state;
  }
}

const rethrowUnless = (kind: ErrorKind) => (error: unknown) => {
  if (error instanceof AppError && error.kind === kind) return null;
  throw error;
};

/** The ticket of a sign-in that waits for its second factor. */
function readTicket(error: unknown): { ticket: string } {
  if (error instanceof AppError && error.kind === 'second_factor_required')
    return { ticket: String(error.details?.ticket) };
  throw error;
}
