import * as contract from '@carillon/contract/integrations';
import { AppError } from '../../../errors.ts';
import type { Routes } from '../../../platform/http/validation.ts';
import { validateDesign, validateNotes } from './validate.ts';

const UNAVAILABLE = { 'retry-after': '30', 'x-error-code': 'SERVICE_UNAVAILABLE' };

export const integrationsRoutes: Routes = async (app) => {
  const config = { access: 'user', shape: 'valid', idempotency: 'reads' } as const;

  app.post(
    '/api/integrations/notes/validate',
    { schema: contract.validateNotes, config },
    async ({ ctx, body }, reply) => {
      const verdict = await validateNotes(ctx, body);
      if (verdict.valid) return { valid: true as const, workspace: verdict.owner };
      if (verdict.reason === 'refused') throw new AppError('credential_rejected', verdict.error);
      return reply
        .code(503)
        .headers(UNAVAILABLE)
        .send({ valid: false as const, error: verdict.error });
    },
  );

  app.post(
    '/api/integrations/design/validate',
    { schema: contract.validateDesign, config },
    async ({ ctx, body }, reply) => {
      const verdict = await validateDesign(ctx, body);
      if (verdict.valid) return { valid: true as const, user: verdict.owner };
      if (verdict.reason === 'refused') throw new AppError('credential_rejected', verdict.error);
      return reply
        .code(503)
        .headers(UNAVAILABLE)
        .send({ valid: false as const, error: verdict.error });
    },
  );
};
