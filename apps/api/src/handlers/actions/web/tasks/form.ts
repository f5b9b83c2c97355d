import { AppError } from '../../../../errors.ts';
import { listModels } from '../../../../lib/ai/models/list-models.ts';
import { describeWebTools } from '../../../../lib/ai/web-tools/find-web-tools.ts';
import { listFormChoices } from '../../../../platform/queries/form-choices.ts';
import { getSettings } from '../../../../platform/settings.ts';
import { tryPrompt } from '../../../../product/agent/try-prompt.ts';
import { previewPrompt } from '../../../../product/executions/request/preview-prompt.ts';
import { tryWatch } from '../../../../product/executions/result/try-watch.ts';
import { executeTask } from '../../../../product/executions/start.ts';
import { duplicateTask } from '../../../../product/tasks/duplicate.ts';
import { getTask } from '../../../../product/tasks/read.ts';
import { previewTask } from '../../../../product/tasks/schedule.ts';
import { changeTask, createTask } from '../../../../product/tasks/write.ts';
import { createUpload } from '../../../../product/uploads/write.ts';
import type { WebActionBuilder } from '../create-web-action.ts';

const CREATION = { as: 'POST /api/agent/create-task' };

export const taskFormActions = ({ signedIn }: WebActionBuilder) => ({
  openTaskForm: signedIn('openTaskForm', async ({ ctx, caller }, { id, attachments, aiModel }) => {
    const { ai } = ctx.config;
    const providers = await ctx.providers.load();
    const models = listModels(providers);
    if (id === undefined) {
      const [{ defaultModel }, choices] = await Promise.all([
        getSettings(ctx),
        listFormChoices(ctx, caller, attachments),
      ]);
      const webTools = describeWebTools(ai, providers, aiModel ?? defaultModel);
      return { task: null, defaultModel, ...choices, models: await models, webTools };
    }
    const task = await getTask(ctx, caller, id);
    const choices = await listFormChoices(ctx, caller, [...task.attachments, ...attachments]);
    const webTools = describeWebTools(ai, providers, aiModel ?? task.aiModel);
    return { task, defaultModel: null, ...choices, models: await models, webTools };
  }),

  findWebTools: signedIn('findWebTools', async ({ ctx }, { aiModel }) =>
    describeWebTools(ctx.config.ai, await ctx.providers.load(), aiModel),
  ),

  previewRuns: signedIn('previewRuns', async ({ ctx, caller }, input) => ({
    occurrences: previewTask(ctx, input, caller.language),
  })),

  previewPrompt: signedIn('previewPrompt', async ({ ctx, caller }, input) => previewPrompt(ctx, caller, input)),

  createTask: signedIn(
    'createTask',
    async ({ ctx, caller }, input) => ({ taskId: await createTask(ctx, caller, input) }),
    CREATION,
  ),

  createTaskAndRun: signedIn(
    'createTaskAndRun',
    async ({ ctx, caller }, input) => {
      const taskId = await createTask(ctx, caller, input);
      try {
        const { executionId } = await executeTask(ctx, caller, taskId);
        return { taskId, executionId, refusal: null };
      } catch (error) {
        if (!(error instanceof AppError && error.kind === 'over_quota')) throw error;
        return { taskId, executionId: null, refusal: String(error.details?.resource) };
      }
    },
    CREATION,
  ),

  saveTask: signedIn(
    'saveTask',
    async ({ ctx, caller }, { id, revision, ...changes }) => changeTask(ctx, caller, id, changes, [revision]),
    { as: 'PATCH /api/tasks/:id' },
  ),

  duplicateTask: signedIn('duplicateTask', async ({ ctx, caller }, { id, ...input }) => {
    // A copy is edited first: it must not run, and cost, before.
    const copy = await duplicateTask(ctx, caller, id, { ...input, isPaused: true });
    return { taskId: copy.id, name: copy.name };
  }),

  uploadFile: signedIn('uploadFile', async ({ ctx, caller }, file) => createUpload(ctx, caller, file), {
    as: 'POST /api/upload',
    isPlain: false,
  }),

  tryPrompt: signedIn(
    'tryPrompt',
    async ({ ctx, caller }, { context, taskId, timezone, name, ...input }) => {
      const { outputSchema, tools } = input;
      const task = { context, taskId, timezone, name, outputSchema, tools };
      const request = await previewPrompt(ctx, caller, { prompt: input.prompt, ...task });
      return tryPrompt(ctx, caller, { ...input, ...request });
    },
    { as: 'POST /api/agent/process' },
  ),

  tryWatch: signedIn('tryWatch', async ({ ctx, caller }, input) => tryWatch(ctx, caller, input)),
});
