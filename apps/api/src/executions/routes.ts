import * as contract from '@carillon/contract/executions';
import type { Routes } from '../http/contract.ts';
import { getExecution, listExecutions } from './read.ts';

const success = true as const;

/** Specification "Tasks, executions, agent mode". */
export const executionsRoutes: Routes = async (app) => {
  const config = { access: 'user' } as const;

  app.get('/api/executions', { schema: contract.listExecutions, config }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listExecutions(ctx, caller, query)),
  }));

  app.get('/api/executions/:id', { schema: contract.getExecution, config }, async ({ ctx, caller, params }) => ({
    success,
    execution: await getExecution(ctx, caller, params.id),
  }));
};
