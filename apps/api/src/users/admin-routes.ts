import * as contract from '@carillon/contract/admin-users';
import type { Routes } from '../http/contract.ts';
import { getAccount, listUsers } from './accounts.ts';

const success = true as const;

/** Specification "Admin": the accounts. */
export const adminUsersRoutes: Routes = async (app) => {
  const config = { access: 'admin' } as const;

  app.get('/api/admin/users', { schema: contract.listUsers, config }, async ({ ctx, query }) => ({
    success,
    data: await listUsers(ctx, query),
  }));

  app.get('/api/admin/users/:id', { schema: contract.getAccount, config }, async ({ ctx, params }) => ({
    success,
    user: await getAccount(ctx, params.id),
  }));
};
