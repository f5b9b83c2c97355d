import { getUser, patchUser } from '@carillon/contract/users';
import type { Routes } from '../http/contract.ts';
import { getProfile } from './read.ts';
import { changeProfile } from './write.ts';

/** Specification "Current user". */
export const usersRoutes: Routes = async (app, { ctx }) => {
  app.get('/api/user', { schema: getUser, config: { access: 'user' } }, async ({ caller }) => ({
    success: true as const,
    user: await getProfile(ctx, caller),
  }));

  app.patch('/api/user', { schema: patchUser, config: { access: 'user' } }, async ({ caller, body }) => ({
    success: true as const,
    user: await changeProfile(ctx, caller, body),
  }));
};
