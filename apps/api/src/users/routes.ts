import { changePassword as changePasswordContract, getUser, patchUser } from '@carillon/contract/users';
import { changePassword } from '../auth/change-password.ts';
import { type Routes, success } from '../http/validation.ts';
import { getProfile } from './read.ts';
import { changeProfile } from './write.ts';

export const usersRoutes: Routes = async (app) => {
  app.get('/api/user', { schema: getUser, config: { access: 'user' } }, async ({ ctx, caller }) => ({
    success,
    user: await getProfile(ctx, caller),
  }));

  app.patch('/api/user', { schema: patchUser, config: { access: 'user' } }, async ({ ctx, caller, body }) => ({
    success,
    user: await changeProfile(ctx, caller, body),
  }));

  app.post(
    '/api/user/password',
    { schema: changePasswordContract, config: { access: 'user' } },
    async ({ ctx, caller, body }) => {
      await changePassword(ctx, caller, body);
      return { success, message: 'Your password is changed. All other sessions are ended.' };
    },
  );
};
