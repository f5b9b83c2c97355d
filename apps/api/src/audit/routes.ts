import * as contract from '@carillon/contract/audit';
import type { Routes } from '../http/validation.ts';
import { listAudit } from './read.ts';

/** The audit log (decisions §9). */
export const auditRoutes: Routes = async (app) => {
  app.get('/api/admin/audit', { schema: contract.listAudit, config: { access: 'admin' } }, async ({ ctx, query }) => ({
    success: true as const,
    ...(await listAudit(ctx, query)),
  }));
};
