import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  SIGNED_IN,
} from './operation.ts';
import { IfMatch } from './preconditions.ts';
import {
  Cursor,
  Id,
  IdParams,
  Instant,
  InstantInput,
  nullable,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
  TimeZone,
} from './primitives.ts';
import { runSettings } from './tasks/run-settings.ts';
import { Interval, Recurrence, RecurrencePattern, Task } from './tasks.ts';

const common = { tags: ['tasks'], security: SIGNED_IN };

export const FATES = [
  'ran',
  'late',
  'skipped_overlap',
  'skipped_by_user',
  'missed',
  'over_quota',
  'over_budget',
  'cancelled',
  'unchanged',
] as const;
export const Fate = stringEnum(FATES);
export type Fate = Static<typeof Fate>;

/** A row of the occurrence ledger: the outcome of one planned instant. */
export const Occurrence = Type.Object(
  {
    plannedFor: Instant,
    fate: Fate,
    recordedAt: Instant,
    executionId: nullable(Id),
    startedAt: nullable(Instant),
    latenessMs: nullable(Type.Integer({ description: 'From the planned instant to the start' })),
  },
  { $id: 'Occurrence' },
);
export type Occurrence = Static<typeof Occurrence>;

export const ListOccurrencesQuery = Type.Object({ limit: pageLimit(20), cursor: Type.Optional(Cursor) });
export type ListOccurrencesQuery = Static<typeof ListOccurrencesQuery>;

export const listOccurrences = {
  ...common,
  operationId: 'listOccurrences',
  summary: 'List occurrences',
  description:
    'Returns one row for each planned instant of the task, newest first, including those that did not run, with the reason. Pages by `cursor`.',
  params: IdParams,
  querystring: ListOccurrencesQuery,
  response: {
    200: Type.Object({
      success,
      occurrences: Type.Array(ref(Occurrence)),
      pagination: Type.Object({ limit: Type.Integer(), nextCursor: nullable(Type.String()) }),
    }),
    ...errorResponses(401, 404, 429),
  },
} satisfies Operation;

export const PreviewTaskInput = strictObject({
  scheduledFor: InstantInput,
  recurrence: Recurrence,
  recurrencePattern: Type.Optional(nullable(RecurrencePattern)),
  interval: Type.Optional(Interval),
  timezone: TimeZone,
  endsAt: runSettings.endsAt,
  maxRuns: runSettings.maxRuns,
  pausedUntil: runSettings.pausedUntil,
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Default: 10' })),
});
export type PreviewTaskInput = Static<typeof PreviewTaskInput>;

/** A future instant of a schedule. */
export const PlannedOccurrence = Type.Object({
  at: Instant,
  local: Type.String({ description: "The same instant as wall-clock time in the task's time zone" }),
  note: Type.Optional(
    Type.String({
      description: 'Why the time deviates (a clock change, a short month, a pause), and why no run follows',
    }),
  ),
});
export type PlannedOccurrence = Static<typeof PlannedOccurrence>;

export const previewTask = {
  ...common,
  operationId: 'previewTask',
  summary: 'Preview the next runs of a schedule',
  description:
    'Stores nothing. Returns at most 50 future runs, with a `note` where a clock change or a short month shifts one, after a pause, at the last run, and, at the first one, on how a pattern combines day of month and weekday. A `scheduledFor` in the past is accepted if future runs follow from it.',
  body: PreviewTaskInput,
  response: {
    200: Type.Object({ success, occurrences: Type.Array(PlannedOccurrence) }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const skipNextRun = {
  ...common,
  operationId: 'skipNextRun',
  summary: 'Skip the next run',
  description:
    'Records the next planned run as `skipped_by_user` and moves `nextExecutionAt` to the one after it; without one, the task is completed. Each call skips one more run, unless `If-Match` is sent. To take it back, pause and resume the task, or change its schedule. Sends `task.updated`.',
  params: IdParams,
  headers: IfMatch,
  response: {
    200: Type.Object({ success, occurrence: ref(Occurrence), task: ref(Task) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 412, 429),
    ...describedErrors({ 409: orInProgress('The task has no next run: it is paused or has ended') }),
  },
} satisfies Operation;

export const MAX_BACKFILL = 100;

export const BackfillTaskInput = strictObject({
  from: { ...InstantInput, description: 'The start of the period' },
  to: { ...InstantInput, description: 'Its end, which is part of it, and not in the future' },
});
export type BackfillTaskInput = Static<typeof BackfillTaskInput>;

export const backfillTask = {
  ...common,
  operationId: 'backfillTask',
  summary: 'Fill in missed runs',
  description: `Queues a run for each instant of the task's schedule in a past period of at most ${MAX_BACKFILL} instants, in order of time, in any status of the task. Instants that had an execution are skipped, so the request can be repeated: \`queued\` is then 0. The quotas must admit all runs, or none is queued. Each run is \`late\`, with the \`trigger\` \`backfill\` and the instant as \`plannedFor\`.`,
  params: IdParams,
  body: BackfillTaskInput,
  response: {
    201: Type.Object({ success, queued: Type.Integer({ description: 'How many runs are queued' }) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 402, 403, 404, 429),
  },
} satisfies Operation;
