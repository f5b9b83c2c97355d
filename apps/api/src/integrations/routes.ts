import * as contract from '@carillon/contract/integrations';
import type { Routes } from '../http/validation.ts';
import { validateDesign, validateNotes } from './validate.ts';

const valid = true as const;
const invalid = false as const;
const RETRY_AFTER = { 'retry-after': '30' };

/** Specification "Integration checks". */
export const integrationsRoutes: Routes = async (app) => {
  const config = { access: 'user', shape: 'valid' } as const;

  app.post(
    '/api/integrations/notes/validate',
    { schema: contract.validateNotes, config },
    async ({ ctx, body }, reply) => {
      const verdict = await validateNotes(ctx, body);
      if (verdict.valid) return { valid, workspace: verdict.owner };
      const { reason, error } = verdict;
      if (reason === 'refused') return reply.code(400).send({ valid: invalid, error });
      return reply.code(503).headers(RETRY_AFTER).send({ valid: invalid, error });
    },
  );

  app.post(
    '/api/integrations/design/validate',
    { schema: contract.validateDesign, config },
    async ({ ctx, body }, reply) => {
      const verdict = await validateDesign(ctx, body);
      if (verdict.valid) return { valid, user: verdict.owner };
      const { reason, error } = verdict;
      if (reason === 'refused') return reply.code(400).send({ valid: invalid, error });
      return reply.code(503).headers(RETRY_AFTER).send({ valid: invalid, error });
    },
  );
};
