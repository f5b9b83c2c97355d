import type { PreviewPromptInput } from '@carillon/contract/tasks/preview-prompt';
import {
  type OutputSchema,
  queryRows,
  type RunContext,
  type TaskInput,
  type TaskSource,
  toInstant,
} from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { executionNotFound, taskNotFound } from '../../../errors.ts';
import { selectLatestRuns } from '../../../platform/queries/runs.ts';
import { checkSources } from '../../sources/check-sources.ts';
import { lookAtSources, toExecutionSources } from '../sources/look.ts';
import { loadTexts } from '../sources/states.ts';
import { buildSourceText, previewSourceText, type SourceText } from '../sources/texts.ts';
import { buildRequest, type RequestInput } from './build-request.ts';
import { checkInputs, type InputText, selectInputs, selectLastSuccessBefore } from './inputs.ts';
import { MAX_SENT } from './system-message.ts';

/** How far back the success before a run is looked for, in runs. */
const MAX_SEARCHED = 200;

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
  inputs?: readonly TaskInput[];
  /** A run of the task: what is known is what it knew. */
  asOf?: number;
}

/** What a run knows besides its task. */
type Occasion = Pick<
  RequestInput,
  'trigger' | 'attempt' | 'viaWebhook' | 'plannedFor' | 'inboundData' | 'lastSuccessAt' | 'previousResult'
> & { startedAt: string };

/**
 * What a planned run that starts now would send; without the last result, and the last texts of sources, for a key that may not
 * read them. With `reads` the sources are read now, and not stored. Throws 400, 404.
 */
export async function previewPrompt(ctx: Context, caller: Caller, input: TypedTask, { reads = false } = {}) {
  const { prompt, taskId, timezone, context, name, outputSchema, tools, asOf } = input;
  const occasion = asOf === undefined || taskId === undefined ? null : await readOccasion(ctx, caller, taskId, asOf);
  const stored =
    taskId === undefined ? { ...NEW_TASK, timezone: caller.timezone ?? 'UTC' } : await readTask(ctx, caller, taskId);
  const typed = input.inputs ?? stored.inputs ?? [];
  const inputs =
    input.inputs || occasion ? await readInputs(ctx, caller, typed, occasion?.startedAt ?? null) : stored.inputs;
  const task = { ...stored, inputs };
  const sources = input.sources ? await checkSources(ctx, caller, input.sources) : task.sources;
  const sourceTexts = reads ? await readTexts(ctx, caller, sources) : await previewTexts(ctx, caller, taskId, sources);
  const now = occasion ? toInstant(occasion.startedAt) : ctx.now();
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
      ...occasion,
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

async function readTask({ db }: Context, caller: Caller, id: number): Promise<PreviewedTask> {
  const mayRead = mayReadResults(caller);
  const [task] = await queryRows<PreviewedTask>(
    db,
    sql`
    select t.name as task_name, t.timezone, t.context, t.output_schema, t.tools, t.sources, t.last_success_at, (
      select left(p.result, ${MAX_SENT}) from executions p
      where p.id = t.last_success_id and p.task_id = t.id and ${mayRead}
    ) as previous_result, ${selectInputs(sql`t.inputs`, sql`t.user_id`, mayRead)} as inputs
    from tasks t where t.id = ${id} and t.user_id = ${caller.id}`,
  );
  if (!task) throw taskNotFound();
  return task;
}

const mayReadResults = ({ apiKey }: Caller) => sql`${apiKey === null || apiKey.scopes.includes('executions:read')}`;

/** The texts of the inputs as of the start of a run, or now. Throws 400. */
async function readInputs(
  ctx: Context,
  caller: Caller,
  typed: readonly TaskInput[],
  at: string | null,
): Promise<InputText[] | null> {
  const given = await checkInputs(ctx, caller, typed);
  const list = sql`${JSON.stringify(given)}::json`;
  const lastSuccess = at === null ? undefined : selectLastSuccessBefore(at);
  const [found] = await queryRows<{ inputs: InputText[] | null }>(
    ctx.db,
    sql`select ${selectInputs(list, sql`${caller.id}::int`, mayReadResults(caller), lastSuccess)} as inputs`,
  );
  return found?.inputs ?? null;
}

/** What a run that has started knew, with the success that it was compared with, or else the one before it. Throws 404. */
async function readOccasion({ db }: Context, caller: Caller, taskId: number, id: number): Promise<Occasion> {
  const [run] = await queryRows<Occasion>(
    db,
    sql`
    select e.trigger, e.attempt, e.via_webhook, e.planned_for, e.inbound_data, e.started_at,
      s.completed_at as last_success_at, case when ${mayReadResults(caller)} then left(s.result, ${MAX_SENT}) end as previous_result
    from executions e left join executions s on s.id = coalesce(e.compared_with_id, (
        select x.id from (${selectLatestRuns(sql`e.task_id`, MAX_SEARCHED)}) x
        where x.id < e.id and x.status = 'completed' order by x.id desc limit 1)) and s.task_id = e.task_id
    where e.id = ${id} and e.task_id = ${taskId} and e.user_id = ${caller.id} and e.started_at is not null`,
  );
  if (!run) throw executionNotFound();
  return run;
}
