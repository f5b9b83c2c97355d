import * as contract from '@carillon/contract/accounts/secrets';
import { type Routes, success } from '../../platform/http/validation.ts';
import { listSecrets } from './read.ts';
import { createSecret, deleteSecret } from './write.ts';

export const secretsRoutes: Routes = async (app) => {
  // Without a scope: no key reads, creates or deletes secrets.
  const config = { access: 'user' } as const;

  app.post('/api/secrets', { schema: contract.createSecret, config }, async ({ ctx, caller, body }, reply) => {
    const secret = await createSecret(ctx, caller, body);
    reply.code(201);
    return { success, secret };
  });

  app.get('/api/secrets', { schema: contract.listSecrets, config }, async ({ ctx, caller }) => ({
    success,
    secrets: await listSecrets(ctx, caller),
  }));

  app.delete('/api/secrets/:id', { schema: contract.deleteSecret, config }, async ({ ctx, caller, params }) => {
    await deleteSecret(ctx, caller, params.id);
    return { success, message: 'The secret is deleted.' };
  });
};
