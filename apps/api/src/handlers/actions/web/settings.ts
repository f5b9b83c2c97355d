import { AppError, type ErrorKind, invalidField } from '../../../errors.ts';
import { confirmWith } from '../../../product/auth/confirm-session.ts';
import { listApiKeys } from '../../../product/auth/keys/read.ts';
import { changeApiKey, createApiKey, deleteApiKey } from '../../../product/auth/keys/write.ts';
import { disconnectApp, listOwnApps } from '../../../product/auth/oauth-server/apps.ts';
import { answerConsent, openConsent } from '../../../product/auth/oauth-server/consent.ts';
import { endUserSessions, getSessionId, listSessions } from '../../../product/auth/sessions.ts';
import { endOwnSession } from '../../../product/auth/write.ts';
import { listSecrets } from '../../../product/secrets/read.ts';
import { createSecret, deleteSecret } from '../../../product/secrets/write.ts';
import { changePassword } from '../../../product/users/change-password.ts';
import { activateCoupon } from '../../../product/users/coupons/activate.ts';
import { deleteOwnAccount } from '../../../product/users/delete-own-account.ts';
import { readExport, startExport } from '../../../product/users/export-account.ts';
import { getSettingsPage } from '../../../product/users/read.ts';
import { changeProfile, changeUserSettings } from '../../../product/users/write.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const settingsActions = ({ signedIn }: WebActionBuilder) => ({
  getSettings: signedIn('getSettings', ({ ctx, caller }) => getSettingsPage(ctx, caller)),

  changeProfile: signedIn('changeProfile', async ({ ctx, caller }, input) => {
    await changeProfile(ctx, caller, input);
    return null;
  }),

  changeSettings: signedIn('changeSettings', async ({ ctx, caller }, input) => {
    await changeUserSettings(ctx, caller, input);
    return null;
  }),

  changePassword: signedIn('changePassword', async ({ ctx, caller }, input) => {
    await changePassword(ctx, caller, input);
    return null;
  }),

  activateCoupon: signedIn(
    'activateCoupon',
    async ({ ctx, caller }, { code }) => {
      const { coupon, user } = await activateCoupon(ctx, caller, code).catch(explainRefusal);
      return { days: coupon.value, trialEndsAt: user.trialEndsAt };
    },
    { as: 'POST /api/coupons/activate' },
  ),

  startExport: signedIn('startExport', ({ ctx, caller }, { currentPassword }) =>
    startExport(ctx, caller, currentPassword),
  ),

  readExport: signedIn('readExport', ({ ctx, caller }, input) => readExport(ctx, caller, input)),

  deleteAccount: signedIn('deleteAccount', async ({ ctx, caller }, input) => {
    await deleteOwnAccount(ctx, caller, input);
    return null;
  }),

  listSessions: signedIn('listSessions', async ({ ctx, caller }) => ({ sessions: await listSessions(ctx, caller) })),

  endSession: signedIn('endSession', async ({ ctx, caller }, { id }) => {
    await endOwnSession(ctx, caller, id);
    return null;
  }),

  endOtherSessions: signedIn('endOtherSessions', async ({ ctx, caller }) => ({
    ended: await endUserSessions(ctx, caller.id, { except: getSessionId(caller) }),
  })),

  listKeys: signedIn('listKeys', ({ ctx, caller }, query) => listApiKeys(ctx, caller, query)),
  createKey: signedIn('createKey', async ({ ctx, caller }, { id, currentPassword, ...input }) => {
    await confirmWith(ctx, caller, currentPassword);
    return createApiKey(ctx, caller, input, id);
  }),
  changeKey: signedIn('changeKey', ({ ctx, caller }, { id, ...input }) => changeApiKey(ctx, caller, id, input)),
  deleteKey: signedIn('deleteKey', async ({ ctx, caller }, { id }) => {
    await deleteApiKey(ctx, caller, id);
    return null;
  }),

  listSecrets: signedIn('listSecrets', async ({ ctx, caller }) => ({ secrets: await listSecrets(ctx, caller) })),
  createSecret: signedIn('createSecret', ({ ctx, caller }, input) => createSecret(ctx, caller, input)),
  deleteSecret: signedIn('deleteSecret', async ({ ctx, caller }, { id }) => {
    await deleteSecret(ctx, caller, id);
    return null;
  }),

  listApps: signedIn('listApps', async ({ ctx, caller }) => ({ apps: await listOwnApps(ctx, caller) })),
  disconnectApp: signedIn('disconnectApp', async ({ ctx, caller }, { id }) => {
    await disconnectApp(ctx, caller, id);
    return null;
  }),
  openConsent: signedIn('openConsent', ({ ctx, caller }, { search }) => openConsent(ctx, caller, search)),
  answerConsent: signedIn('answerConsent', ({ ctx, caller }, input) => answerConsent(ctx, caller, input)),
});

const REFUSALS: Partial<Record<ErrorKind, string>> = {
  not_found: 'is not the code of a coupon that can be used',
  coupon_expired: 'has expired',
  coupon_already_used: 'is already used by this account',
  coupon_used_up: 'has no uses left',
};

/** Puts the reason at the field of the form. */
function explainRefusal(error: unknown): never {
  const message = error instanceof AppError ? REFUSALS[error.kind] : undefined;
  throw message === undefined ? error : invalidField('code', message);
}
