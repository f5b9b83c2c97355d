import { changePassword as changePasswordContract, getUser, patchUser } from '@carillon/contract/users';
import { changePassword } from '../auth/change-password.ts';
import type { Routes } from '../http/validation.ts';
import { getProfile } from './read.ts';
import { changeProfile } from './write.ts';

/** Specification "Current user". */
export const usersRoutes: Routes = async (app) => {
  app.get('/api/user', { schema: getUser, config: { access: 'user' } }, async ({ ctx, caller }) => ({
    success: true as const,
    user: await getProfile(ctx, caller),
  }));

  app.patch('/api/user', { schema: patchUser, config: { access: 'user' } }, async ({ ctx, caller, body }) => ({
    success: true as const,
    user: await changeProfile(ctx, caller, body),
  }));

  app.post(
    '/api/user/password',
    { schema: changePasswordContract, config: { access: 'user' } },
    async ({ ctx, caller, body }) => {
      await changePassword(ctx, caller, body);
      return { success: true as const, message: 'Your password is changed. All other sessions are ended.' };
    },
  );
};
