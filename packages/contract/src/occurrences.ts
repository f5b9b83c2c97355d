import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from './operation.ts';
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
import { Recurrence, RecurrencePattern } from './tasks.ts';

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
    'Stores nothing. Returns at most 50 future runs, with a `note` where a clock change or a short month shifts one, after a pause, and at the last run. A `scheduledFor` in the past is accepted if future runs follow from it.',
  body: PreviewTaskInput,
  response: {
    200: Type.Object({ success, occurrences: Type.Array(PlannedOccurrence) }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;
