import { type Static, Type } from '@sinclair/typebox';
import { Pagination, success } from './envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  SIGNED_IN,
} from './operation.ts';
import {
  Cursor,
  DayOrInstantInput,
  Id,
  IdParams,
  Instant,
  InstantInput,
  nullable,
  Offset,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
} from './primitives.ts';

export const EXECUTION_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export const ExecutionStatus = stringEnum(EXECUTION_STATUSES);
export type ExecutionStatus = Static<typeof ExecutionStatus>;

export const TRIGGERS = ['schedule', 'manual', 'inbound', 'retry', 'backfill'] as const;
export const Trigger = stringEnum(TRIGGERS);
export type Trigger = Static<typeof Trigger>;

export const ERROR_CODES = [
  'RATE_LIMIT_EXCEEDED',
  'TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_ERROR',
  'AUTHENTICATION_FAILED',
  'UNKNOWN_MODEL',
  'INVALID_REQUEST',
  'CONTENT_FILTERED',
  'QUOTA_EXCEEDED',
  'INTERRUPTED',
  'INVALID_OUTPUT',
  'CANCELLED',
] as const;
export const ExecutionErrorCode = stringEnum(ERROR_CODES);
export type ExecutionErrorCode = Static<typeof ExecutionErrorCode>;

/** A watched value that differs from the last success. */
export const OutputChange = Type.Object({
  path: Type.String({
    description:
      'A path such as `releases[0].date` or `releases[version="1.2"].date`; empty for the whole output or text',
  }),
  from: Type.Optional(Type.Unknown({ description: 'The earlier value; missing if there was none' })),
  to: Type.Optional(Type.Unknown({ description: 'The new value; missing if there is none' })),
  cut: Type.Optional(
    Type.Boolean({
      description:
        'Whether a value is too long and only a part of it is here; without `from` and `to`, whether further changes were left out',
    }),
  ),
});
export type OutputChange = Static<typeof OutputChange>;

/** What was sent to the model. */
export const ExecutionRequest = Type.Object(
  {
    system: nullable(Type.String({ description: 'The system message; null without one' })),
    prompt: Type.String({ description: 'The prompt with its variables replaced' }),
    model: Type.String({ description: 'The model that was asked' }),
  },
  { description: 'What was sent to the model; null before the start' },
);
export type ExecutionRequest = Static<typeof ExecutionRequest>;

export const OUTCOMES = ['done', 'nothing_new', 'not_done'] as const;
export const ExecutionOutcome = stringEnum(OUTCOMES);
export type ExecutionOutcome = Static<typeof ExecutionOutcome>;

export const ModelAttempt = Type.Object({
  model: Type.String({ description: 'As the task names it' }),
  errorCode: nullable(ExecutionErrorCode),
  message: nullable(Type.String({ description: 'Why the model did not answer; null for the one that answered' })),
  ms: Type.Integer({ description: 'How long the call took' }),
});
export type ModelAttempt = Static<typeof ModelAttempt>;

export const SOURCE_STATUSES = ['new', 'unchanged', 'failed'] as const;

/** A source of a task, as a run has read it. */
export const ExecutionSource = Type.Object({
  name: Type.String(),
  url: Type.Optional(Type.String()),
  search: Type.Optional(Type.String({ description: 'What was searched for, instead of `url`' })),
  status: stringEnum(SOURCE_STATUSES, { description: 'Against the last completed run' }),
  httpStatus: nullable(Type.Integer({ description: 'Null if nothing answered' })),
  fetchedAt: { ...Instant, description: 'When it was asked for' },
  asOf: nullable({ ...Instant, description: 'When the text that the run has of it was read; null without a text' }),
  bytes: nullable(Type.Integer({ description: 'Of what was read, unpacked' })),
  message: nullable(Type.String({ description: 'Why it failed' })),
});
export type ExecutionSource = Static<typeof ExecutionSource>;

/** A page that an answer rests on. */
export const Citation = Type.Object({
  url: Type.String({ description: 'An http or https address' }),
  title: Type.String({ description: 'The title of the page; its host if the provider sent none' }),
});
export type Citation = Static<typeof Citation>;

export const Execution = Type.Object(
  {
    id: Id,
    taskId: Id,
    userId: Id,
    status: ExecutionStatus,
    result: nullable(Type.String()),
    output: Type.Unknown({ description: 'The parsed result of a task with an output schema; null without one' }),
    changed: nullable(
      Type.Boolean({
        description: 'Whether a watched value differs from the last success; null without a success before',
      }),
    ),
    changes: nullable(
      Type.Array(OutputChange, { description: 'The watched values that differ; null whenever `changed` is' }),
    ),
    citations: Type.Array(Citation, {
      description: 'The pages that the answer cites, in its order; empty without any',
    }),
    sources: Type.Array(ExecutionSource, {
      description: 'The sources of the task, in its order; empty before they are read, and without any',
    }),
    toolUses: Type.Integer({ description: 'How often the model used its tools' }),
    truncated: Type.Boolean({ description: 'Whether a limit of tokens or size cut the answer off' }),
    modelAttempts: Type.Array(ModelAttempt, {
      description:
        'The models that were asked, in order; the one that answered is the last, with `errorCode: null`. Empty before that',
    }),
    outcome: nullable({
      ...ExecutionOutcome,
      description:
        'Whether the answer does what the task asks for (`done`), says nothing new (`nothing_new`), or does not do it (`not_done`); null if nothing decides that',
    }),
    outcomeReason: nullable(Type.String({ description: 'Why, in one sentence' })),
    error: nullable(Type.String()),
    errorCode: nullable(ExecutionErrorCode),
    tokensUsed: nullable(Type.Integer()),
    tokens: nullable(
      Type.Object({
        input: Type.Integer(),
        output: Type.Integer(),
        total: Type.Integer(),
        estimated: Type.Boolean({ description: 'Whether the counts are estimates because the provider sent none' }),
      }),
    ),
    costUsd: nullable(Type.Number()),
    model: nullable(Type.String({ description: 'The model that answered' })),
    processingTimeMs: nullable(Type.Integer()),
    trigger: Trigger,
    plannedFor: nullable(Instant),
    attempt: Type.Integer(),
    retryOfId: nullable(Id),
    taskVersion: nullable(
      Type.Integer({
        description:
          'The version of the task that it used; null before the start, and for runs that are older than versions',
      }),
    ),
    createdAt: Instant,
    startedAt: nullable(Instant),
    completedAt: nullable(Instant),
    seenAt: nullable({ ...Instant, description: 'When its owner first saw how it ended; null until then' }),
  },
  { $id: 'TaskExecution' },
);
export type Execution = Static<typeof Execution>;

export const ListExecutionsQuery = Type.Object({
  taskId: Type.Optional(Id),
  status: Type.Optional(ExecutionStatus),
  outcome: Type.Optional({ ...ExecutionOutcome, description: 'Only executions with this outcome' }),
  startDate: Type.Optional(DayOrInstantInput),
  endDate: Type.Optional(DayOrInstantInput),
  unseen: Type.Optional(Type.Boolean({ description: '`true`: only runs that have ended and were not seen yet' })),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Only runs with these words in the result or in the prompt, as in a search engine: `"a phrase"`, `or`, and `-` before a word that must not be there',
    }),
  ),
  limit: pageLimit(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListExecutionsQuery = Static<typeof ListExecutionsQuery>;

export const listExecutions = {
  operationId: 'listExecutions',
  summary: 'List executions',
  description:
    "Returns the executions of the caller's tasks, newest first, optionally by task, by status, by outcome, by whether they were seen, by words (`q`) and by creation time: from `startDate` to `endDate`, where a day is a whole day in UTC. Pages by `offset`, or by `cursor`, which stays fast on late pages and takes precedence if both are given.",
  tags: ['executions'],
  security: SIGNED_IN,
  querystring: ListExecutionsQuery,
  response: {
    200: Type.Object({ success, executions: Type.Array(ref(Execution)), pagination: Pagination }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

export const getExecution = {
  operationId: 'getExecution',
  summary: 'Get an execution',
  description:
    'To wait for the end of a run, poll until `completedAt` is set, or subscribe a webhook to `execution.completed` and `execution.failed`.',
  tags: ['executions'],
  security: SIGNED_IN,
  params: IdParams,
  response: {
    200: Type.Object({
      success,
      execution: Type.Object({
        ...Execution.properties,
        request: nullable(ExecutionRequest),
      }),
    }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

const Seen = Type.Object({ success, seen: Type.Integer({ description: 'How many executions were not seen before' }) });

export const seeExecution = {
  operationId: 'seeExecution',
  summary: 'Mark an execution as seen',
  description: 'Idempotent: `seenAt` keeps the first time. A run that is pending or running stays unseen when it ends.',
  tags: ['executions'],
  security: SIGNED_IN,
  params: IdParams,
  response: { 200: Seen, ...IDEMPOTENCY_ERRORS, ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;

export const SeeExecutionsInput = strictObject({
  before: Type.Optional({ ...InstantInput, description: 'Only those that ended before this instant' }),
});
export type SeeExecutionsInput = Static<typeof SeeExecutionsInput>;

export const seeExecutions = {
  operationId: 'seeExecutions',
  summary: 'Mark all executions as seen',
  description: 'Marks every execution that has ended. The body is optional.',
  tags: ['executions'],
  security: SIGNED_IN,
  body: nullable(SeeExecutionsInput),
  response: { 200: Seen, ...IDEMPOTENCY_ERRORS, ...errorResponses(401, 403, 429) },
} satisfies Operation;

const RetryResponse = Type.Object({
  success,
  executionId: Id,
  status: stringEnum(['pending', 'running']),
  startedAt: Instant,
});

export const retryExecution = {
  operationId: 'retryExecution',
  summary: 'Retry an execution',
  description:
    'Creates a pending execution of the same task (201). If a retry of the failed execution is already scheduled or running, it is returned instead (200), and a scheduled one is queued immediately. Idempotent in that sense.',
  tags: ['executions'],
  security: SIGNED_IN,
  params: IdParams,
  response: {
    200: { ...RetryResponse, description: 'The retry that was already scheduled or running' },
    201: { ...RetryResponse, description: 'A new retry' },
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 402, 403, 404, 429),
    ...describedErrors({ 409: orInProgress('The execution has not failed: it is pending, running or completed') }),
  },
} satisfies Operation;

export const cancelExecution = {
  operationId: 'cancelExecution',
  summary: 'Cancel an execution',
  description:
    'Ends an execution that is pending or running as `failed` with `errorCode` `CANCELLED`. A pending one gives its execution back to the quota. The tokens of a running one are an estimate, and the connection to the provider is closed within two seconds, on whichever process it runs. No retry follows, and the consecutive failures of the task stay as they are.',
  tags: ['executions'],
  security: SIGNED_IN,
  params: IdParams,
  response: {
    200: Type.Object({ success, execution: ref(Execution) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 409: orInProgress('The execution has already ended') }),
  },
} satisfies Operation;

export const ExecutionDetails = Type.Object({
  ...Execution.properties,
  request: nullable(ExecutionRequest),
  task: Type.Object({
    id: Id,
    name: Type.String(),
    prompt: Type.String(),
    model: Type.String({ description: 'The model of the task' }),
  }),
  logs: Type.Array(Type.Object({ timestamp: Instant, message: Type.String() }), {
    description: 'The steps of the run, in order of time',
  }),
  metadata: Type.Object({
    model: nullable(Type.String({ description: 'The model that answered; null before that' })),
    tokens: nullable(
      Type.Object(
        { prompt: Type.Integer(), completion: Type.Integer(), total: Type.Integer() },
        {
          description: 'Null until the run has ended, and if the model was not called',
        },
      ),
    ),
    cost: nullable(Type.Number({ description: 'USD; null whenever `tokens` is' })),
  }),
});
export type ExecutionDetails = Static<typeof ExecutionDetails>;

export const getExecutionDetails = {
  operationId: 'getExecutionDetails',
  summary: 'Get the details of an execution',
  description:
    'Returns the execution with the current state of its task, the steps of the run with their times, and its model, tokens and cost.',
  tags: ['executions'],
  security: SIGNED_IN,
  params: IdParams,
  response: {
    200: Type.Object({ success, execution: ExecutionDetails }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

export const DiffExecutionQuery = Type.Object({
  against: Type.Optional({
    ...Id,
    description: 'Another execution of the task. Default: the last success before this one',
  }),
});

export const diffExecution = {
  operationId: 'diffExecution',
  summary: 'Compare an execution with an earlier one',
  description:
    'Returns the watched values that differ, by what the task watches now, and the differences between the two results by word, or by line of long results. Of results that are too long or too different, the part between their equal ends counts as replaced. The parts in order, without the inserted ones, are the earlier result; without the deleted ones, the later result.',
  tags: ['executions'],
  security: SIGNED_IN,
  params: IdParams,
  querystring: DiffExecutionQuery,
  response: {
    200: Type.Object({
      success,
      against: { ...Id, description: 'The execution that it was compared with' },
      changes: Type.Array(OutputChange, { description: 'The watched values that differ' }),
      text: Type.Array(
        Type.Object({
          op: stringEnum(['equal', 'insert', 'delete'], {
            description: 'Whether the part is in both results, only in this one, or only in the other',
          }),
          text: Type.String({ description: 'A part of a result' }),
        }),
        { description: 'The differences between the results' },
      ),
    }),
    ...errorResponses(401, 429),
    ...describedErrors({
      404: 'The execution does not exist, `against` is no execution of its task, or there is no success before it',
      409: 'One of the two has no result: it has not ended, or it failed',
    }),
  },
} satisfies Operation;
