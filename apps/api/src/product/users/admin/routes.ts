import * as contract from '@carillon/contract/admin/users';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { deleteAccount } from './delete.ts';
import { getAccount, listUsers } from './read.ts';
import { changeAccount } from './write.ts';

export const adminUsersRoutes: Routes = async (app) => {
  const config = { access: 'admin', scope: 'admin' } as const;

  app.get('/api/admin/users', { schema: contract.listUsers, config }, async ({ ctx, query }) => ({
    success,
    data: await listUsers(ctx, query),
  }));

  app.get('/api/admin/users/:id', { schema: contract.getAccount, config }, async ({ ctx, params }) => ({
    success,
    user: await getAccount(ctx, params.id),
  }));

  app.patch(
    '/api/admin/users/:id',
    { schema: contract.changeAccount, config },
    async ({ ctx, caller, params, body }) => {
      return { success, user: await changeAccount(ctx, caller, params.id, body) };
    },
  );

  app.delete('/api/admin/users/:id', { schema: contract.deleteAccount, config }, async ({ ctx, caller, params }) => {
    await deleteAccount(ctx, caller, params.id);
    return { success, message: 'The account and all its data are deleted.' };
  });
};
