import * as contract from '@carillon/contract/executions';
import { type Routes, success } from '../../platform/http/validation.ts';
import { cancelExecution } from './cancel.ts';
import { getExecution, getExecutionDetails, listExecutions, toExecution } from './read.ts';
import { diffExecution } from './result/diff-execution.ts';
import { seeExecution, seeExecutions } from './seen.ts';
import { retryExecution } from './start.ts';

export const executionsRoutes: Routes = async (app) => {
  const config = { access: 'user', scope: 'executions:read' } as const;
  const runConfig = { access: 'user', scope: 'executions:run' } as const;

  app.get('/api/executions', { schema: contract.listExecutions, config }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listExecutions(ctx, caller, query)),
  }));

  app.get('/api/executions/:id', { schema: contract.getExecution, config }, async ({ ctx, caller, params }) => {
    const { request, ...execution } = await getExecution(ctx, caller, params.id);
    return { success, execution: { ...toExecution(execution), request } };
  });

  app.get(
    '/api/executions/:id/details',
    { schema: contract.getExecutionDetails, config },
    async ({ ctx, caller, params }) => ({ success, execution: await getExecutionDetails(ctx, caller, params.id) }),
  );

  app.get(
    '/api/executions/:id/diff',
    { schema: contract.diffExecution, config },
    async ({ ctx, caller, params, query }) => ({
      success,
      ...(await diffExecution(ctx, caller, params.id, query.against)),
    }),
  );

  app.post('/api/executions/:id/seen', { schema: contract.seeExecution, config }, async ({ ctx, caller, params }) => ({
    success,
    seen: await seeExecution(ctx, caller, params.id),
  }));

  app.post('/api/executions/seen', { schema: contract.seeExecutions, config }, async ({ ctx, caller, body }) => ({
    success,
    seen: await seeExecutions(ctx, caller, body ?? {}),
  }));

  app.post(
    '/api/executions/:id/retry',
    { schema: contract.retryExecution, config: runConfig },
    async ({ ctx, caller, params }, reply) => {
      const { isNew, ...retry } = await retryExecution(ctx, caller, params.id);
      if (isNew) reply.code(201).header('location', `/api/executions/${retry.executionId}`);
      return { success, ...retry };
    },
  );

  app.post(
    '/api/executions/:id/cancel',
    { schema: contract.cancelExecution, config: runConfig },
    async ({ ctx, caller, params }) => ({ success, execution: await cancelExecution(ctx, caller, params.id) }),
  );
};
