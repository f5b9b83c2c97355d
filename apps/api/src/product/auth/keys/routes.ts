import * as contract from '@carillon/contract/accounts/api-keys';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { listApiKeys } from './read.ts';
import { changeApiKey, createApiKey, deleteApiKey } from './write.ts';

export const keysRoutes: Routes = async (app) => {
  // Without a scope: no key creates, changes or deletes keys.
  const config = { access: 'user' } as const;

  app.post(
    '/api/keys',
    { schema: contract.createApiKey, config: { ...config, needsConfirmation: true } },
    async ({ ctx, caller, body }, reply) => {
      const created = await createApiKey(ctx, caller, body);
      reply.code(201);
      return { success, ...created };
    },
  );

  app.get('/api/keys', { schema: contract.listApiKeys, config }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listApiKeys(ctx, caller, query)),
  }));

  app.patch('/api/keys/:id', { schema: contract.changeApiKey, config }, async ({ ctx, caller, params, body }) => ({
    success,
    key: await changeApiKey(ctx, caller, params.id, body),
  }));

  app.delete('/api/keys/:id', { schema: contract.deleteApiKey, config }, async ({ ctx, caller, params }) => {
    await deleteApiKey(ctx, caller, params.id);
    return { success, message: 'The API key is deleted.' };
  });
};
