import * as settings from '@carillon/contract/accounts/user-settings';
import { changePassword as changePasswordContract, getUser, patchUser } from '@carillon/contract/accounts/users';
import { changePassword } from '../auth/change-password.ts';
import { type Routes, success } from '../http/validation.ts';
import { getProfile, getUserSettings } from './read.ts';
import { changeProfile, changeUserSettings } from './write.ts';

export const usersRoutes: Routes = async (app) => {
  const config = { access: 'user' } as const;

  app.get('/api/user', { schema: getUser, config }, async ({ ctx, caller }) => ({
    success,
    user: await getProfile(ctx, caller),
  }));

  app.patch('/api/user', { schema: patchUser, config }, async ({ ctx, caller, body }) => ({
    success,
    user: await changeProfile(ctx, caller, body),
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
