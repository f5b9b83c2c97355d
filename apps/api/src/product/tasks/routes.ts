import * as occurrences from '@carillon/contract/occurrences';
import * as contract from '@carillon/contract/tasks';
import * as prompts from '@carillon/contract/tasks/preview-prompt';
import * as templates from '@carillon/contract/tasks/templates';
import * as versions from '@carillon/contract/tasks/versions';
import { createETag, readIfMatch, sendTagged } from '../../platform/http/etag.ts';
import { LARGE_BODY_LIMIT } from '../../platform/http/server.ts';
import { type Routes, success } from '../../platform/http/validation.ts';
import { previewPrompt } from '../executions/request/preview-prompt.ts';
import { backfillTask, executeTask } from '../executions/start.ts';
import { deleteTask } from './delete.ts';
import { duplicateTask } from './duplicate.ts';
import { listOccurrences } from './occurrences.ts';
import { getTask, listTasks } from './read.ts';
import { previewTask } from './schedule.ts';
import { skipNextRun } from './skip-next-run.ts';
import { listTemplates } from './templates/list-templates.ts';
import { getTaskTemplate } from './templates/task-template.ts';
import { getVersion, listVersions } from './versions/read.ts';
import { restoreVersion } from './versions/restore.ts';
import { changeTask, createTask } from './write.ts';

const buildETag = createETag(contract.Task);

export const tasksRoutes: Routes = async (app) => {
  const read = { access: 'user', scope: 'tasks:read' } as const;
  const write = { access: 'user', scope: 'tasks:write' } as const;

  app.post(
    '/api/agent/create-task',
    { schema: contract.createTask, config: write, bodyLimit: LARGE_BODY_LIMIT },
    async ({ ctx, caller, body }, reply) => {
      const taskId = await createTask(ctx, caller, body);
      reply.code(201).header('location', `/api/tasks/${taskId}`);
      return { success, taskId };
    },
  );

  app.get('/api/tasks', { schema: contract.listTasks, config: read }, async ({ ctx, caller, query }) => ({
    success,
    ...(await listTasks(ctx, caller, query)),
  }));

  app.get('/api/tasks/:id', { schema: contract.getTask, config: read }, async (request, reply) => {
    const task = await getTask(request.ctx, request.caller, request.params.id);
    return sendTagged(request, reply, buildETag(task, task), { success, task });
  });

  app.patch(
    '/api/tasks/:id',
    { schema: contract.changeTask, config: write, bodyLimit: LARGE_BODY_LIMIT },
    async (request, reply) => {
      const { ctx, caller, params, body } = request;
      const task = await changeTask(ctx, caller, params.id, body, readIfMatch(request, params.id));
      reply.header('etag', buildETag(task, task));
      return { success, task };
    },
  );

  app.delete('/api/tasks/:id', { schema: contract.deleteTask, config: write }, async (request) => {
    const { ctx, caller, params } = request;
    await deleteTask(ctx, caller, params.id, readIfMatch(request, params.id));
    return { success, message: 'The task is deleted.' };
  });

  app.post(
    '/api/tasks/:id/execute',
    { schema: contract.executeTask, config: { access: 'user', scope: 'executions:run' } },
    async ({ ctx, caller, params }, reply) => {
      const queued = await executeTask(ctx, caller, params.id);
      reply.code(201).header('location', `/api/executions/${queued.executionId}`);
      return { success, status: 'pending' as const, ...queued };
    },
  );

  app.post(
    '/api/tasks/:id/duplicate',
    { schema: contract.duplicateTask, config: write },
    async ({ ctx, caller, params, body }, reply) => {
      const task = await duplicateTask(ctx, caller, params.id, body ?? {});
      reply.code(201).header('location', `/api/tasks/${task.id}`);
      return { success, task };
    },
  );

  app.get(
    '/api/tasks/:id/occurrences',
    { schema: occurrences.listOccurrences, config: read },
    async ({ ctx, caller, params, query }) => ({
      success,
      ...(await listOccurrences(ctx, caller, params.id, query)),
    }),
  );

  app.get(
    '/api/tasks/:id/versions',
    { schema: versions.listVersions, config: read },
    async ({ ctx, caller, params, query }) => ({
      success,
      ...(await listVersions(ctx, caller, params.id, query)),
    }),
  );

  app.get(
    '/api/tasks/:id/versions/:number',
    { schema: versions.getVersion, config: read },
    async ({ ctx, caller, params }) => ({
      success,
      version: await getVersion(ctx, caller, params.id, params.number),
    }),
  );

  app.post(
    '/api/tasks/:id/versions/:number/restore',
    { schema: versions.restoreVersion, config: write },
    async (request, reply) => {
      const { ctx, caller, params } = request;
      const task = await restoreVersion(ctx, caller, params.id, params.number, readIfMatch(request, params.id));
      reply.header('etag', buildETag(task, task));
      return { success, task };
    },
  );

  app.post('/api/tasks/:id/skip-next', { schema: occurrences.skipNextRun, config: write }, async (request, reply) => {
    const { ctx, caller, params } = request;
    const skipped = await skipNextRun(ctx, caller, params.id, { expected: readIfMatch(request, params.id) });
    reply.header('etag', buildETag(skipped.task, skipped.task));
    return { success, ...skipped };
  });

  app.post(
    '/api/tasks/:id/backfill',
    { schema: occurrences.backfillTask, config: { access: 'user', scope: 'executions:run' } },
    async ({ ctx, caller, params, body }, reply) => {
      const queued = await backfillTask(ctx, caller, params.id, body);
      reply.code(201);
      return { success, queued };
    },
  );

  app.get('/api/templates', { schema: templates.listTemplates, config: read }, async ({ caller }) => ({
    success,
    templates: listTemplates(caller),
  }));

  app.get(
    '/api/tasks/:id/template',
    { schema: templates.getTaskTemplate, config: read },
    async ({ ctx, caller, params }) => ({ success, template: await getTaskTemplate(ctx, caller, params.id) }),
  );

  const preview = { ...read, idempotency: 'reads' } as const;
  app.post('/api/tasks/preview', { schema: occurrences.previewTask, config: preview }, async ({ ctx, body }) => ({
    success,
    occurrences: previewTask(ctx, body),
  }));

  app.post(
    '/api/tasks/preview-prompt',
    { schema: prompts.previewPrompt, config: preview, bodyLimit: LARGE_BODY_LIMIT },
    async ({ ctx, caller, body }) => ({ success, ...(await previewPrompt(ctx, caller, body)) }),
  );
};
