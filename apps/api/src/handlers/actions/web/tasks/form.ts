import { randomUUID } from 'node:crypto';
import type { CreateTaskInput } from '@carillon/contract/tasks';
import { TEMPLATE_NEEDS, type TemplateNeed } from '@carillon/contract/tasks/templates';
import { AppError } from '../../../../errors.ts';
import { listModels } from '../../../../lib/ai/models/list-models.ts';
import { describeWebTools } from '../../../../lib/ai/web-tools/find-web-tools.ts';
import { listFormChoices } from '../../../../platform/queries/form-choices.ts';
import { getSettings } from '../../../../platform/settings.ts';
import { tryPrompt } from '../../../../product/agent/try-prompt.ts';
import { previewPrompt } from '../../../../product/executions/request/preview-prompt.ts';
import { tryWatch } from '../../../../product/executions/result/try-watch.ts';
import { executeTask } from '../../../../product/executions/start.ts';
import { previewSources } from '../../../../product/sources/preview.ts';
import { duplicateTask } from '../../../../product/tasks/duplicate.ts';
import { estimateCost } from '../../../../product/tasks/estimate-cost.ts';
import { getTask } from '../../../../product/tasks/read.ts';
import { previewTask } from '../../../../product/tasks/schedule.ts';
import { listTemplates } from '../../../../product/tasks/templates/list-templates.ts';
import { getTaskTemplate } from '../../../../product/tasks/templates/task-template.ts';
import { changeTask, createTask } from '../../../../product/tasks/write.ts';
import { createUpload } from '../../../../product/uploads/write.ts';
import type { Call } from '../../mappings.ts';
import type { WebActionBuilder } from '../create-web-action.ts';
import { runOnce } from '../run-once.ts';

/** For its transactions. */
const CREATION_MS = 30_000;

/** As long as a prompt that has not changed has the same answer, in every tab, until another one is asked for. */
const TRIAL_MS = 10 * 60_000;

const CREATION = { as: 'POST /api/agent/create-task' };

export const taskFormActions = ({ signedIn }: WebActionBuilder) => ({
  openTaskForm: signedIn('openTaskForm', async ({ ctx, caller }, { id, attachments, aiModel }) => {
    const { ai } = ctx.config;
    const providers = await ctx.providers.load();
    const models = listModels(providers);
    const canSearch = ctx.config.searchUrl !== null;
    if (id === undefined) {
      const [{ defaultModel }, choices] = await Promise.all([
        getSettings(ctx),
        listFormChoices(ctx, caller, attachments),
      ]);
      const webTools = describeWebTools(ai, providers, aiModel ?? defaultModel);
      return { task: null, defaultModel, ...choices, canSearch, models: await models, webTools };
    }
    const task = await getTask(ctx, caller, id);
    const choices = await listFormChoices(ctx, caller, [...task.attachments, ...attachments], task);
    const webTools = describeWebTools(ai, providers, aiModel ?? task.aiModel);
    return { task, defaultModel: null, ...choices, canSearch, models: await models, webTools };
  }),

  listTemplates: signedIn('listTemplates', async ({ ctx, caller }) => {
    const [{ defaultModel }, providers] = await Promise.all([getSettings(ctx), ctx.providers.load()]);
    const { tools } = describeWebTools(ctx.config.ai, providers, defaultModel);
    const isMissing = (need: TemplateNeed) =>
      need === 'search' ? ctx.config.searchUrl === null : need !== 'sources' && !tools.includes(need);
    return { templates: listTemplates(caller), missing: TEMPLATE_NEEDS.filter(isMissing) };
  }),

  getTaskTemplate: signedIn('getTaskTemplate', async ({ ctx, caller }, { id }) => getTaskTemplate(ctx, caller, id)),

  findWebTools: signedIn('findWebTools', async ({ ctx }, { aiModel }) =>
    describeWebTools(ctx.config.ai, await ctx.providers.load(), aiModel),
  ),

  previewRuns: signedIn('previewRuns', async ({ ctx, caller }, input) => ({
    occurrences: previewTask(ctx, input, caller.language),
  })),

  estimateCost: signedIn('estimateCost', async ({ ctx, caller }, input) => estimateCost(ctx, caller, input)),

  previewPrompt: signedIn('previewPrompt', async ({ ctx, caller }, input) => previewPrompt(ctx, caller, input)),

  previewSources: signedIn('previewSources', async ({ ctx, caller }, input) => ({
    sources: await previewSources(ctx, caller, input),
  })),

  createTask: signedIn(
    'createTask',
    async (call, { attempt, ...input }) =>
      runOnce(call, { action: 'createTask', attempt, input, leaseMs: CREATION_MS }, async () => ({
        taskId: await createTask(call.ctx, call.caller, input),
      })),
    CREATION,
  ),

  createTaskAndRun: signedIn(
    'createTaskAndRun',
    async (call, { attempt, ...input }) =>
      runOnce(call, { action: 'createTaskAndRun', attempt, input, leaseMs: CREATION_MS }, () =>
        createAndRun(call, input),
      ),
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
    async (call, { after = 'none', ...given }) => {
      const { context, taskId, timezone, name, sources, inputs, asOf, ...input } = given;
      const { ctx, caller, stream } = call;
      const leaseMs = ctx.config.ai.timeoutMs + CREATION_MS;
      const once = { action: 'tryPrompt', attempt: after, input: given, leaseMs, keepMs: TRIAL_MS };
      return runOnce(call, once, async () => {
        const { outputSchema, tools } = input;
        const task = { context, taskId, timezone, name, outputSchema, tools, sources, inputs, asOf };
        const request = await previewPrompt(ctx, caller, { prompt: input.prompt, ...task }, { reads: true });
        // It goes on without the browser: the page that is opened again gets this answer.
        const tried = await tryPrompt(ctx, caller, { ...input, ...request }, stream?.onText);
        return { ...tried, id: randomUUID(), answeredAt: ctx.now().toISOString() };
      });
    },
    { as: 'POST /api/agent/process' },
  ),

  tryWatch: signedIn('tryWatch', async ({ ctx, caller }, input) => tryWatch(ctx, caller, input)),
});

async function createAndRun({ ctx, caller }: Call, input: CreateTaskInput) {
  const taskId = await createTask(ctx, caller, input);
  try {
    const { executionId } = await executeTask(ctx, caller, taskId);
    return { taskId, executionId, refusal: null };
  } catch (error) {
    if (!(error instanceof AppError && error.kind === 'over_quota')) throw error;
    return { taskId, executionId: null, refusal: String(error.details?.resource) };
  }
}
