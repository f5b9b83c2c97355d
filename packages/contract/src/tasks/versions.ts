import { type Static, Type } from '@sinclair/typebox';
import { Pagination, success } from '../envelopes.ts';
import { describedErrors, errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from '../operation.ts';
import { IfMatch } from '../preconditions.ts';
import { Cursor, Id, IdParams, Instant, MAX_ID, Offset, pageLimit, ref, stringEnum } from '../primitives.ts';
import { Task, type TaskSettings } from '../tasks.ts';

/** What a run uses of its task: a change of one of them makes a version. */
export const VERSION_FIELDS = [
  'prompt',
  'aiModel',
  'fallbackModels',
  'maxTokens',
  'temperature',
  'timeoutMs',
  'maxRetries',
  'context',
  'outputSchema',
  'inputs',
  'sources',
  'runIf',
  'tools',
  'maxToolUses',
  'requireTools',
  'attachments',
] as const satisfies readonly (keyof Task)[];

type Unversioned =
  | (
      | 'externalId'
      | 'name'
      | 'description'
      | 'scheduledFor'
      | 'recurrence'
      | 'recurrencePattern'
      | 'interval'
      | 'timezone'
    )
  | ('webhookUrl' | 'notificationEmail' | 'channels' | 'notify' | 'watch' | 'alerts')
  | ('missed' | 'overlap' | 'endsAt' | 'maxRuns' | 'pausedUntil' | 'monthlyBudgetUsd');
// A new setting has to be in one of the two lists, or this does not compile.
true satisfies Exclude<keyof TaskSettings, Unversioned> extends (typeof VERSION_FIELDS)[number] ? true : never;

/** A version also has the channels of its time: a change of them makes none, but a restore brings them back. */
export const RESTORED_FIELDS = [...VERSION_FIELDS, 'channels'] as const satisfies readonly (keyof Task)[];

/** Changes by the same account and way are one version for this long after the first, unless a run has used it. */
export const VERSION_MINUTES = 10;

export const CHANGED_VIA = ['page', 'api', 'mcp', 'import'] as const;
export type ChangedVia = (typeof CHANGED_VIA)[number];

export const TaskVersion = Type.Object(
  {
    number: Type.Integer({ description: 'From 1, which is the creation' }),
    at: { ...Instant, description: 'When the first change of the version was made' },
    by: { ...Id, description: 'The account that made it' },
    via: stringEnum(CHANGED_VIA, {
      description:
        'The way: a page, this API, an assistant (`mcp`) or an import; `api` for version 1 of tasks that are older than versions',
    }),
    fields: Type.Array(stringEnum(VERSION_FIELDS), {
      description: 'What differs from the version before; empty for the first one',
    }),
  },
  { $id: 'TaskVersion', description: 'What the runs of a task use, since a change of it' },
);
export type TaskVersion = Static<typeof TaskVersion>;

const common = { tags: ['tasks'], security: SIGNED_IN };

export const VersionParams = Type.Object({
  id: Id,
  number: Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'The number of the version' }),
});

export const ListVersionsQuery = Type.Object({
  limit: pageLimit(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListVersionsQuery = Static<typeof ListVersionsQuery>;

export const listVersions = {
  ...common,
  operationId: 'listVersions',
  summary: 'List the versions of a task',
  description: `Returns the versions, newest first. A change of ${VERSION_FIELDS.map((field) => `\`${field}\``).join(', ')} makes one. Changes by the same account and way within ${VERSION_MINUTES} minutes of the first are one version, unless a run has used it. \`taskVersion\` of an execution is the number. Pages by \`offset\`, or by \`cursor\`.`,
  params: IdParams,
  querystring: ListVersionsQuery,
  response: {
    200: Type.Object({ success, versions: Type.Array(ref(TaskVersion)), pagination: Pagination }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

const NOT_FOUND = describedErrors({ 404: 'The task does not exist, or has no version of this number' });

export const getVersion = {
  ...common,
  operationId: 'getVersion',
  summary: 'Get a version of a task',
  description: 'Returns the version with what a run used of the task.',
  params: VersionParams,
  response: {
    200: Type.Object({
      success,
      version: Type.Object({
        ...TaskVersion.properties,
        task: Type.Pick(Task, RESTORED_FIELDS, {
          description: 'What the runs of this version use, and the channels of the time when it was made',
        }),
      }),
    }),
    ...errorResponses(401, 429),
    ...NOT_FOUND,
  },
} satisfies Operation;

export const restoreVersion = {
  ...common,
  operationId: 'restoreVersion',
  summary: 'Restore a version of a task',
  description:
    'Gives the task what the version has, as a new version; status, schedule and the other deliveries stay. If it is what the task has, nothing changes. What is lost since, such as a file or a channel, is an error that names it. Sends `task.updated` if anything changed.',
  params: VersionParams,
  headers: IfMatch,
  response: {
    200: Type.Object({ success, task: ref(Task) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 412, 429),
    ...NOT_FOUND,
  },
} satisfies Operation;
