import { AppError, type ErrorKind } from '../../../errors.ts';
import { confirmBy, getConfirmation } from '../../../product/auth/confirm-session.ts';
import {
  createAssertionOptions,
  createRegistrationOptions,
  findRelyingParty,
} from '../../../product/auth/factors/passkeys.ts';
import { listFactors } from '../../../product/auth/factors/read.ts';
import { answerTicket, type SignedIn, signInWithPasskey } from '../../../product/auth/factors/sign-in.ts';
import {
  confirmTotp,
  createPasskey,
  createRecoveryCodes,
  createTotp,
  deleteFactor,
  getTotp,
} from '../../../product/auth/factors/write.ts';
import { getSessionId } from '../../../product/auth/sessions.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const factorActions = ({ signedIn, guest }: WebActionBuilder) => ({
  answerTicket: guest('answerTicket', (ctx, input) => toState(answerTicket(ctx, input)), { duringMaintenance: true }),

  getSignInOptions: guest(
    'getSignInOptions',
    async (ctx, { browser }) => {
      const options = findRelyingParty(ctx.config) && (await createAssertionOptions(ctx, browser));
      return { options: options && JSON.stringify(options) };
    },
    { isCounted: false, duringMaintenance: true },
  ),

  signInWithPasskey: guest(
    'signInWithPasskey',
    (ctx, { browser, response }) => toState(signInWithPasskey(ctx, response, [browser])),
    { duringMaintenance: true },
  ),

  getConfirmation: signedIn('getConfirmation', async ({ ctx, caller }) => {
    const confirmation = await getConfirmation(ctx, caller);
    const hasPasskey = confirmation.factorKinds.includes('passkey') && findRelyingParty(ctx.config) !== null;
    const options = hasPasskey ? await createAssertionOptions(ctx, getSessionId(caller), caller.id) : null;
    return { ...confirmation, options: options && JSON.stringify(options) };
  }),

  confirmSession: signedIn('confirmSession', async ({ ctx, caller }, input) => {
    await confirmBy(ctx, caller, input, [getSessionId(caller)]);
    return null;
  }),

  getFactors: signedIn('getFactors', async ({ ctx, caller }) => {
    const [found, { mayChangeFactors }] = await Promise.all([listFactors(ctx, caller), getConfirmation(ctx, caller)]);
    const canAdd = mayChangeFactors && findRelyingParty(ctx.config) !== null;
    const options = canAdd ? await createRegistrationOptions(ctx, caller, getSessionId(caller)) : null;
    return { ...found, mayChangeFactors, options: options && JSON.stringify(options) };
  }),

  createTotp: signedIn('createTotp', async ({ ctx, caller }, input) => {
    const { factor } = await createTotp(ctx, caller, input);
    return { id: factor.id };
  }),

  getTotp: signedIn('getTotp', ({ ctx, caller }, { id }) => getTotp(ctx, caller, id)),

  confirmTotp: signedIn('confirmTotp', ({ ctx, caller }, { id, code }) => confirmTotp(ctx, caller, id, code)),

  createPasskey: signedIn('createPasskey', async ({ ctx, caller }, input) => {
    const { recoveryCodes } = await createPasskey(ctx, caller, input);
    return { recoveryCodes };
  }),

  deleteFactor: signedIn('deleteFactor', async ({ ctx, caller }, { id }) => {
    await deleteFactor(ctx, caller, id);
    return null;
  }),

  replaceRecoveryCodes: signedIn('replaceRecoveryCodes', async ({ ctx, caller }) => ({
    recoveryCodes: await createRecoveryCodes(ctx, caller),
  })),
});

const STATES: Partial<Record<ErrorKind, 'rejected' | 'invalid'>> = {
  factor_rejected: 'rejected',
  ticket_invalid: 'invalid',
};

/** The new session, or the reason of the refusal. */
async function toState(signingIn: Promise<SignedIn>) {
  try {
    const { token } = await signingIn;
    return { state: 'opened' as const, session: token };
  } catch (error) {
    const state = error instanceof AppError ? STATES[error.kind] : undefined;
    if (!state) throw error;
    return { state, session: null };
  }
}
