import * as settings from '@carillon/contract/accounts/user-settings';
import {
  changePassword as changePasswordContract,
  confirmEmail as confirmEmailContract,
  deleteUser,
  getUser,
  patchUser,
} from '@carillon/contract/accounts/users';
import { clearSessionCookie } from '../http/credentials.ts';
import { type Routes, success } from '../http/validation.ts';
import { changePassword } from './change-password.ts';
import { type Confirmation, confirmEmail } from './confirm-email.ts';
import { deleteOwnAccount } from './delete-own-account.ts';
import { getProfile, getUserSettings } from './read.ts';
import { changeProfile, changeUserSettings } from './write.ts';

const PUBLIC = { access: 'public' } as const;

const CONFIRMED: Record<Confirmation, string> = {
  change_approved: 'The change is approved. A link to confirm it is on its way to the new address.',
  email_changed: 'Your e-mail address is changed. Sign in with the new one from now on.',
  notifications_confirmed: 'This address is confirmed and gets notifications from now on.',
};

export const usersRoutes: Routes = async (app) => {
  const config = { access: 'user' } as const;

  app.get('/api/user', { schema: getUser, config }, async ({ ctx, caller }) => ({
    success,
    user: await getProfile(ctx, caller),
  }));

  app.patch('/api/user', { schema: patchUser, config }, async ({ ctx, caller, body }) => {
    const { pendingEmail, ...user } = await changeProfile(ctx, caller, body);
    return { success, user: body.email === undefined ? user : { ...user, pendingEmail } };
  });

  app.delete('/api/user', { schema: deleteUser, config }, async ({ ctx, caller, body }, reply) => {
    await deleteOwnAccount(ctx, caller, body);
    clearSessionCookie(reply, ctx.config);
    return { success, message: 'Your account and all its data are deleted.' };
  });

  app.post('/api/user/confirm-email', { schema: confirmEmailContract, config: PUBLIC }, async ({ ctx, body }) => ({
    success,
    message: CONFIRMED[await confirmEmail(ctx, body.token)],
  }));

  app.post('/api/user/password', { schema: changePasswordContract, config }, async ({ ctx, caller, body }) => {
    await changePassword(ctx, caller, body);
    return { success, message: 'Your password is changed. All other sessions are ended.' };
  });

  app.get('/api/user/settings', { schema: settings.getUserSettings, config }, async ({ ctx, caller }) => ({
    success,
    settings: await getUserSettings(ctx, caller),
  }));

  app.patch('/api/user/settings', { schema: settings.changeUserSettings, config }, async ({ ctx, caller, body }) => ({
    success,
    settings: await changeUserSettings(ctx, caller, body),
  }));
};
