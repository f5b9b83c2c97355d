import * as contract from '@carillon/contract/admin/audit';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { listAudit } from './read.ts';

export const auditRoutes: Routes = async (app) => {
  app.get(
    '/api/admin/audit',
    { schema: contract.listAudit, config: { access: 'admin', scope: 'admin' } },
    async ({ ctx, query }) => ({
      success,
      ...(await listAudit(ctx, query)),
    }),
  );
};
