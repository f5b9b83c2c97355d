import * as contract from '@carillon/contract/tasks/sources';
import { type Routes, success } from '../../platform/http/validation.ts';
import { previewSources } from './preview.ts';

export const sourcesRoutes: Routes = async (app) => {
  app.post(
    '/api/tasks/preview-sources',
    { schema: contract.previewSources, config: { access: 'user', scope: 'tasks:write', idempotency: 'reads' } },
    async ({ ctx, caller, body }) => ({ success, sources: await previewSources(ctx, caller, body) }),
  );
};
