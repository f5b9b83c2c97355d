import * as contract from '@carillon/contract/integrations';
import type { Routes } from '../http/validation.ts';
import { validateDesign, validateNotes } from './validate.ts';

const RETRY_AFTER = { 'retry-after': '30' };
const INVALID = { valid: false as const };

export const integrationsRoutes: Routes = async (app) => {
  const idempotency = { transactions: 'own', leaseMs: 60_000 } as const;
  const config = { access: 'user', shape: 'valid', idempotency } as const;

  app.post(
    '/api/integrations/notes/validate',
    { schema: contract.validateNotes, config },
    async ({ ctx, body }, reply) => {
      const verdict = await validateNotes(ctx, body);
      if (verdict.valid) return { valid: true as const, workspace: verdict.owner };
      const { reason, error } = verdict;
      if (reason === 'refused') return reply.code(400).send({ ...INVALID, error, code: 'CREDENTIAL_REJECTED' });
      return reply
        .code(503)
        .headers(RETRY_AFTER)
        .send({ ...INVALID, error, code: 'SERVICE_UNAVAILABLE' });
    },
  );

  app.post(
    '/api/integrations/design/validate',
    { schema: contract.validateDesign, config },
    async ({ ctx, body }, reply) => {
      const verdict = await validateDesign(ctx, body);
      if (verdict.valid) return { valid: true as const, user: verdict.owner };
      const { reason, error } = verdict;
      if (reason === 'refused') return reply.code(400).send({ ...INVALID, error, code: 'CREDENTIAL_REJECTED' });
      return reply
        .code(503)
        .headers(RETRY_AFTER)
        .send({ ...INVALID, error, code: 'SERVICE_UNAVAILABLE' });
    },
  );
};
