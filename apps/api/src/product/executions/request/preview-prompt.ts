import type { PreviewPromptInput } from '@carillon/contract/tasks/preview-prompt';
import { type OutputSchema, queryRows, type RunContext, type TaskSource } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { taskNotFound } from '../../../errors.ts';
import { checkSources } from '../../sources/check-sources.ts';
import { lookAtSources, toExecutionSources } from '../sources/look.ts';
import { loadTexts } from '../sources/states.ts';
import { buildSourceText, previewSourceText, type SourceText } from '../sources/texts.ts';
import { buildRequest } from './build-request.ts';
import { type InputText, selectInputs } from './inputs.ts';
import { MAX_SENT } from './system-message.ts';

interface PreviewedTask {
  taskName: string;
  timezone: string;
  context: RunContext;
  outputSchema: OutputSchema | null;
  tools: readonly string[];
  lastSuccessAt: string | null;
  previousResult: string | null;
  inputs: InputText[] | null;
  sources: TaskSource[];
}

const NEW_TASK = {
  taskName: 'New task',
  context: { clock: true, previousResult: false },
  outputSchema: null,
  tools: [],
  lastSuccessAt: null,
  previousResult: null,
  inputs: null,
  sources: [],
};

/** A task that is not stored, or not as it is shown. */
interface TypedTask extends PreviewPromptInput {
  name?: string;
  outputSchema?: OutputSchema | null;
  tools?: readonly string[];
  sources?: readonly TaskSource[];
}

/**
 * What a planned run that starts now would send; without the last result, and the last texts of sources, for a key that may not
 * read them. With `reads` the sources are read now, and not stored. Throws 400, 404.
 */
export async function previewPrompt(ctx: Context, caller: Caller, input: TypedTask, { reads = false } = {}) {
  const { prompt, taskId, timezone, context, name, outputSchema, tools } = input;
  const task =
    taskId === undefined ? { ...NEW_TASK, timezone: caller.timezone ?? 'UTC' } : await readTask(ctx, caller, taskId);
  const sources = input.sources ? await checkSources(ctx, caller, input.sources) : task.sources;
  const sourceTexts = reads ? await readTexts(ctx, caller, sources) : await previewTexts(ctx, caller, taskId, sources);
  const now = ctx.now();
  const { system, prompt: sent } = buildRequest(
    {
      ...task,
      ...(name !== undefined && name !== '' && { taskName: name }),
      ...(outputSchema !== undefined && { outputSchema }),
      ...(tools !== undefined && { tools }),
      prompt,
      aiModel: '',
      timezone: timezone ?? task.timezone,
      context: { ...task.context, ...context },
      trigger: 'schedule',
      attempt: 1,
      viaWebhook: false,
      plannedFor: now.toISOString(),
      inboundData: null,
      sourceTexts,
    },
    now,
  );
  return { system, prompt: sent };
}

async function readTexts(ctx: Context, { id: userId }: Caller, sources: readonly TaskSource[]): Promise<SourceText[]> {
  const looks = await lookAtSources(ctx, { id: 0, userId, sources }, []);
  const { sources: looked } = toExecutionSources(looks);
  return looks.flatMap(({ source, text }, at) => {
    const found = looked[at];
    return found ? [buildSourceText(source, found, text)] : [];
  });
}

/** As the last look has read them. */
async function previewTexts(
  ctx: Context,
  { apiKey }: Caller,
  taskId: number | undefined,
  sources: readonly TaskSource[],
): Promise<SourceText[]> {
  const mayRead = apiKey === null || apiKey.scopes.includes('executions:read');
  const isStored = taskId !== undefined && sources.length > 0 && mayRead;
  const texts = isStored ? await loadTexts(ctx, taskId, sources) : new Map();
  return sources.map((source) => previewSourceText(source, texts.get(source.name)?.text ?? null));
}

async function readTask({ db }: Context, { id: userId, apiKey }: Caller, id: number): Promise<PreviewedTask> {
  const mayRead = sql`${apiKey === null || apiKey.scopes.includes('executions:read')}`;
  const [task] = await queryRows<PreviewedTask>(
    db,
    sql`
    select t.name as task_name, t.timezone, t.context, t.output_schema, t.tools, t.sources, t.last_success_at, (
      select left(p.result, ${MAX_SENT}) from executions p
      where p.id = t.last_success_id and p.task_id = t.id and ${mayRead}
    ) as previous_result, ${selectInputs(sql`t.inputs`, sql`t.user_id`, mayRead)} as inputs
    from tasks t where t.id = ${id} and t.user_id = ${userId}`,
  );
  if (!task) throw taskNotFound();
  return task;
}
