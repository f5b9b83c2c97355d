import { type TSchema, Type } from '@sinclair/typebox';
import { ChannelKind } from '../../channels/channels.ts';
import { ErrorCode, Execution, ExecutionRequest, ExecutionStatus, Trigger } from '../../executions.ts';
import { Fate } from '../../occurrences.ts';
import { Cursor, Id, Instant, nullable, pageLimit, strictObject, stringEnum, Uuid } from '../../primitives.ts';
import { EventKind } from '../../webhooks/events.ts';
import { NoData, userAction } from './define.ts';

const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'A day in the time zone of the profile' });

/** Whether an answer has changed since the last success, of a task that watches it. */
export const IsChanged = Type.Boolean();

const ListRunsInput = strictObject({
  taskId: Type.Optional(Id),
  status: Type.Optional(ExecutionStatus),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  limit: pageLimit(25),
  cursor: Type.Optional(Cursor),
});

const RunOfList = Type.Object({
  id: Id,
  taskId: Id,
  taskName: Type.String(),
  status: ExecutionStatus,
  trigger: Trigger,
  fate: nullable(Fate),
  plannedFor: nullable(Instant),
  createdAt: Instant,
  attempt: Type.Integer(),
  errorCode: nullable(ErrorCode),
  error: nullable(Type.String()),
  answerStart: nullable(Type.String()),
  processingTimeMs: nullable(Type.Integer()),
  costUsd: nullable(Type.Number()),
  /** Whether a later run repeats it. */
  isRetried: Type.Boolean(),
  isChanged: IsChanged,
  /** How many pages the answer cites. */
  sources: Type.Integer(),
});

const step = <K extends string, P extends Record<string, TSchema>>(kind: K, fields: P) =>
  Type.Object({ at: Instant, kind: Type.Literal(kind), ...fields });

const RunStep = Type.Union([
  step('planned', {}),
  step('queued', { by: stringEnum(['schedule', 'inbound', 'manual', 'backfill']) }),
  step('queued as a retry', {
    retryOf: nullable(Id),
    attempt: nullable(Type.Integer()),
    waitsUntil: nullable(Instant),
  }),
  step('interrupted', {}),
  step('queued again', { isRetry: Type.Boolean() }),
  step('started', { isAgain: Type.Boolean(), lateMs: nullable(Type.Number()) }),
  step('asked', { model: nullable(Type.String()), attachments: nullable(Type.Integer()) }),
  step('used', {
    model: nullable(Type.String()),
    input: Type.Integer(),
    output: Type.Integer(),
    isEstimated: Type.Boolean(),
  }),
  step('completed', { afterMs: nullable(Type.Integer()) }),
  step('failed', {
    afterMs: nullable(Type.Integer()),
    errorCode: nullable(ErrorCode),
    error: nullable(Type.String()),
  }),
  step('retried', { id: Id, attempt: nullable(Type.Integer()), runAt: Instant }),
]);

const NearRun = Type.Object({
  id: Id,
  status: ExecutionStatus,
  attempt: Type.Integer(),
  errorCode: nullable(ErrorCode),
  fate: nullable(Fate),
  /** The planned instant; of a run on demand, when it was asked for. */
  at: Instant,
  isChanged: IsChanged,
});

const EarlierAttempt = Type.Object({
  id: Id,
  attempt: Type.Integer(),
  errorCode: nullable(ErrorCode),
  error: nullable(Type.String()),
  endedAt: nullable(Instant),
});

const RunDetails = Type.Object({
  execution: Execution,
  /** Null before the start, and for runs that did not keep it. */
  request: nullable(ExecutionRequest),
  fate: nullable(Fate),
  /** The part of the cost that is for tools; 0 if the provider reports one sum. */
  toolCostUsd: Type.Number(),
  task: Type.Object({
    id: Id,
    name: Type.String(),
    prompt: Type.String(),
    model: Type.String(),
    changedAt: Instant,
    /** Null if the task has no next run. */
    nextRunAt: nullable(Instant),
    attachments: Type.Array(Type.Object({ name: Type.String(), url: nullable(Type.String()) })),
  }),
  steps: Type.Array(RunStep),
  /** The runs that this one repeats, oldest first. */
  earlierAttempts: Type.Array(EarlierAttempt),
  /** Whether a retry waits or runs. */
  hasLiveRetry: Type.Boolean(),
  isChanged: IsChanged,
  comparedWithId: nullable(Id),
  /** What it was compared with, or else the success before it. */
  lastSuccess: nullable(Type.Object({ id: Id, at: Instant, answer: Type.String() })),
  before: Type.Array(NearRun),
  after: Type.Array(NearRun),
});

const DELIVERY_STATUSES = ['pending', 'sending', 'delivered', 'failed', 'held', 'digested'] as const;

const RunDelivery = Type.Object({
  id: Uuid,
  /** Of the webhook or the channel. */
  webhookId: Uuid,
  /** Null for a webhook. */
  channel: nullable(Type.Object({ name: Type.String(), kind: ChannelKind })),
  url: Type.String(),
  event: EventKind,
  status: stringEnum(DELIVERY_STATUSES),
  /** Whether the webhook or the channel is on. */
  isActive: Type.Boolean(),
  nextAttemptAt: nullable(Instant),
  /** What a digested delivery was sent in. */
  digest: nullable(Type.Object({ status: stringEnum(DELIVERY_STATUSES), nextAttemptAt: nullable(Instant) })),
  /** Those of the digest, if there is one. */
  attempts: Type.Integer(),
  /** The latest ten of them, oldest first. */
  log: Type.Array(
    Type.Object({
      at: Instant,
      isSuccess: Type.Boolean(),
      statusCode: nullable(Type.Integer()),
      error: nullable(Type.String()),
    }),
  ),
});

const RunMail = Type.Object({
  to: Type.String(),
  status: stringEnum(['pending', 'delivered', 'failed']),
  attempts: Type.Integer(),
  at: Instant,
  error: nullable(Type.String()),
});

const QueuedRun = Type.Object({ id: Id });

export const runActions = {
  listRuns: userAction(
    ListRunsInput,
    Type.Object({
      runs: Type.Array(RunOfList),
      /** Of the filter; null without one, and if it is not the caller's. */
      taskName: nullable(Type.String()),
      nextCursor: nullable(Type.String()),
      /** Whether only the newest runs were searched for the filter: the cursor leads to the older ones. */
      isPartial: Type.Boolean(),
    }),
  ),
  getRun: userAction(
    strictObject({ id: Id }),
    Type.Object({ run: RunDetails, deliveries: Type.Array(RunDelivery), mails: Type.Array(RunMail) }),
  ),
  retryRun: userAction(strictObject({ id: Id }), QueuedRun),
  /** Runs the task of this run. */
  runAgain: userAction(strictObject({ id: Id }), QueuedRun),
  cancelRun: userAction(strictObject({ id: Id }), NoData),
  deliverAgain: userAction(strictObject({ webhookId: Uuid, deliveryId: Uuid, isChannel: Type.Boolean() }), NoData),
};
