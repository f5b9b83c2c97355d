import * as contract from '@carillon/contract/admin/providers';
import { type Routes, success } from '../../../../platform/http/validation.ts';
import { listProviders } from './read.ts';
import { testProvider } from './test-call.ts';
import { changeProvider, createProvider, deleteProvider } from './write.ts';

const TEST_LEASE_MS = 60_000;

export const providersRoutes: Routes = async (app) => {
  const config = { access: 'admin', scope: 'admin' } as const;

  app.get('/api/admin/providers', { schema: contract.listProviders, config }, async ({ ctx }) => ({
    success,
    providers: await listProviders(ctx),
  }));

  app.post(
    '/api/admin/providers',
    { schema: contract.createProvider, config },
    async ({ ctx, caller, body }, reply) => {
      const provider = await createProvider(ctx, caller, body);
      reply.code(201);
      return { success, provider };
    },
  );

  app.patch(
    '/api/admin/providers/:id',
    { schema: contract.changeProvider, config },
    async ({ ctx, caller, params, body }) => ({
      success,
      provider: await changeProvider(ctx, caller, params.id, body),
    }),
  );

  app.delete(
    '/api/admin/providers/:id',
    { schema: contract.deleteProvider, config },
    async ({ ctx, caller, params }) => {
      await deleteProvider(ctx, caller, params.id);
      return { success, message: 'The provider is deleted.' };
    },
  );

  app.post(
    '/api/admin/providers/test',
    {
      schema: contract.testProvider,
      config: { ...config, idempotency: { transactions: 'own', leaseMs: TEST_LEASE_MS } as const },
    },
    async ({ ctx, body }) => ({ success, ...(await testProvider(ctx, body)) }),
  );
};
