import { Type } from '@sinclair/typebox';
import { Id, Instant, InstantInput, nullable, strictObject, stringEnum } from '../primitives.ts';
import { RunIf, Source, Sources } from './sources.ts';

export const RunContext = Type.Object(
  {
    clock: Type.Boolean({
      description: 'Whether a system message has the planned time, in the time zone of the task',
    }),
    previousResult: Type.Boolean({ description: 'Whether the system message has the result of the last success' }),
  },
  { description: 'What the model is given in addition to the prompt' },
);
export const RunContextInput = strictObject(
  {
    clock: Type.Optional({ ...RunContext.properties.clock, description: 'Default: true' }),
    previousResult: Type.Optional({ ...RunContext.properties.previousResult, description: 'Default: false' }),
  },
  { description: 'What the model is given in addition to the prompt' },
);

export const NOTIFY_WHEN = ['always', 'change', 'failure', 'news'] as const;
const Notify = stringEnum(NOTIFY_WHEN, {
  description:
    "When the task's own webhook and mail get a result: `always`, only if it changed (`change`), only failures (`failure`), or only news (`news`): a second, short call to the model decides whether the answer says something new. Failures are always delivered",
});
export const MISSED_POLICIES = ['latest', 'none', 'all'] as const;
const Missed = stringEnum(MISSED_POLICIES, {
  description:
    'What makes up for runs that were missed while the service was down: one run (`latest`), nothing (`none`), or the latest 10 (`all`)',
});
export const OVERLAP_POLICIES = ['skip', 'queue', 'cancel'] as const;
const Overlap = stringEnum(OVERLAP_POLICIES, {
  description:
    'What happens to a planned run while a run of the task is pending or running: it is skipped, one is queued, or it replaces the others, which are cancelled',
});

export const OutputSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only',
});

const inputsDescription =
  'Tasks of the caller whose last success the prompt reads: `{{task.<name>}}` stands for its output, or for its text without an output schema';
const taskInput = {
  taskId: {
    ...Id,
    description: 'The task that is read. It may read this one in turn: no run waits for another',
  },
  name: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,31}$',
    description:
      'Its name in the prompt, unique among the inputs: a small letter, then up to 31 small letters, digits or `_`',
  }),
};

const WatchPath = Type.String({ minLength: 1, maxLength: 200 });
const watchDescription =
  'Paths into the output to compare with the last success, such as `price` or `releases[].date`; without any, the whole output';
export const Watch = Type.Array(WatchPath, { maxItems: 20, description: watchDescription });

export const WEB_TOOLS = ['web_search', 'web_fetch'] as const;
export type WebTool = (typeof WEB_TOOLS)[number];
const toolsDescription =
  "What the model may use during a run: the provider's own search (`web_search`) and its reader of web pages (`web_fetch`)";
const maxToolUsesDescription = 'How often the model may use its tools in a run';

const alertRules = {
  overdueMinutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_080, description: 'Minutes after which a planned run is overdue' }),
  ),
  failuresInRow: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Failed runs in a row after which the task is failing' }),
  ),
  costAboveUsd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Cost of a run in USD' })),
  durationAboveMs: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 86_400_000, description: 'Duration of a run in milliseconds' }),
  ),
  fallbacksInRow: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Runs in a row that a fallback model answered' }),
  ),
};
const alertsDescription =
  'When to send an alert; a rule that is left out is off. Null: 15 minutes overdue, 3 failures in a row and 3 answers of a fallback model in a row, if the task has a webhook or a mail address';
export const AlertRules = Type.Object(alertRules, { description: alertsDescription });

/** The name of a model, as tasks have it. */
export const ModelName = Type.String({ minLength: 1, maxLength: 200, pattern: '^\\S+$' });
const fallbackModelsDescription =
  'The models that are asked in this order when `aiModel` cannot answer, within the same run';
const requireToolsDescription = 'Whether the outcome is `not_done` if the model leaves one of the `tools` unused';

/** Fields of a task: how its runs are made, limited, compared and watched. */
export const runSettings = {
  fallbackModels: Type.Optional(
    Type.Array(ModelName, {
      maxItems: 3,
      uniqueItems: true,
      description: `${fallbackModelsDescription}. Default: none`,
    }),
  ),
  context: Type.Optional(RunContextInput),
  outputSchema: Type.Optional(nullable(OutputSchema)),
  inputs: Type.Optional(
    Type.Array(strictObject(taskInput), { maxItems: 5, description: `${inputsDescription}. Default: none` }),
  ),
  tools: Type.Optional(
    Type.Array(stringEnum(WEB_TOOLS), {
      maxItems: WEB_TOOLS.length,
      uniqueItems: true,
      description: `${toolsDescription}. The provider of the model must have them. Default: none`,
    }),
  ),
  maxToolUses: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 20, description: `${maxToolUsesDescription}. Default: 5` }),
  ),
  requireTools: Type.Optional(Type.Boolean({ description: `${requireToolsDescription}. Default: false` })),
  sources: Type.Optional({ ...Sources, description: `${Sources.description}. Default: none` }),
  runIf: Type.Optional({ ...RunIf, description: `${RunIf.description}. Default: \`always\`` }),
  notify: Type.Optional({ ...Notify, description: `${Notify.description}. Default: \`always\`` }),
  watch: Type.Optional(Watch),
  missed: Type.Optional({ ...Missed, description: `${Missed.description}. Default: \`latest\`` }),
  overlap: Type.Optional({ ...Overlap, description: `${Overlap.description}. Default: \`skip\`` }),
  endsAt: Type.Optional(
    nullable({
      ...InstantInput,
      description:
        'No run is planned at this instant or later, and the task is completed after its last run before; null for never',
    }),
  ),
  maxRuns: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description:
          'The maximum number of planned runs: the task is completed once the last of them has ended; null for no limit. Runs on demand, retries and runs that were skipped or missed do not count',
      }),
    ),
  ),
  pausedUntil: Type.Optional(
    nullable({
      ...InstantInput,
      description: 'The first run is the first one of the schedule at this instant or later; null for no pause',
    }),
  ),
  timeoutMs: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1000,
        maximum: 3_600_000,
        description:
          'How long the model may take to answer, in milliseconds: at most the `AI_TIMEOUT_MS` of the service; null for that. Reading attachments does not count',
      }),
    ),
  ),
  monthlyBudgetUsd: Type.Optional(
    nullable(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description:
          'What the runs of a UTC month may cost in USD; null for no limit. A run starts only if the most that it can cost is within the rest',
      }),
    ),
  ),
  maxRetries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 3, description: 'How often a failed run is retried. Default: 3' }),
  ),
  alerts: Type.Optional(nullable(strictObject(alertRules, { description: alertsDescription }))),
};

export const storedRunSettings = {
  fallbackModels: Type.Array(Type.String(), { description: fallbackModelsDescription }),
  context: RunContext,
  outputSchema: nullable(OutputSchema),
  inputs: Type.Array(Type.Object(taskInput), { description: inputsDescription }),
  tools: Type.Array(stringEnum(WEB_TOOLS), { description: toolsDescription }),
  maxToolUses: Type.Integer({ description: maxToolUsesDescription }),
  requireTools: Type.Boolean({ description: requireToolsDescription }),
  sources: Type.Array(Type.Object(Source.properties), { description: Sources.description }),
  runIf: RunIf,
  notify: Notify,
  watch: Type.Array(Type.String(), { description: watchDescription }),
  missed: Missed,
  overlap: Overlap,
  endsAt: nullable(Instant),
  maxRuns: nullable(Type.Integer()),
  pausedUntil: nullable(Instant),
  timeoutMs: nullable(
    Type.Integer({
      description: 'How long the model may take to answer, in milliseconds; null for the timeout of the service',
    }),
  ),
  monthlyBudgetUsd: nullable(Type.Number()),
  maxRetries: Type.Integer({ description: 'How often a failed run is retried' }),
  alerts: nullable(AlertRules),
};
