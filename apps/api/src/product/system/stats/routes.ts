import * as contract from '@carillon/contract/admin/stats';
import type { Routes } from '../../../platform/http/validation.ts';
import { getStats } from './read.ts';

export const statsRoutes: Routes = async (app) => {
  app.get('/api/admin/stats', { schema: contract.getStats, config: { access: 'admin', scope: 'admin' } }, ({ ctx }) =>
    getStats(ctx),
  );
};
