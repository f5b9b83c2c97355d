import { type Static, type TSchema, Type } from '@sinclair/typebox';
import {
  Citation,
  ExecutionErrorCode,
  ExecutionOutcome,
  ExecutionStatus,
  ModelAttempt,
  OutputChange,
} from '../executions.ts';
import { Id, Instant, nullable, stringEnum } from '../primitives.ts';
import { Recurrence, TaskStatus } from '../tasks.ts';

export const EVENT_KINDS = [
  'task.created',
  'task.updated',
  'task.deleted',
  'task.started',
  'task.completed',
  'task.failed',
  'execution.started',
  'execution.completed',
  'execution.failed',
  'task.changed',
  'task.overdue',
  'task.failing',
  'task.recovered',
  'task.expensive',
  'task.slow',
  'task.degraded',
  'usage.alert',
  'scheduler.silent',
  'test',
] as const;
export const EventKind = stringEnum(EVENT_KINDS);
export type EventKind = Static<typeof EventKind>;

const Started = Type.Object({
  task: Type.Object({ id: Id, name: Type.String() }),
  execution: Type.Object({
    id: Id,
    status: ExecutionStatus,
    startedAt: Instant,
    estimatedDurationMs: Type.Integer(),
  }),
});

const Completed = Type.Object({
  task: Type.Object({ id: Id, name: Type.String(), status: TaskStatus }),
  execution: Type.Object({
    id: Id,
    status: ExecutionStatus,
    result: nullable(Type.String()),
    tokensUsed: Type.Object({ input: Type.Integer(), output: Type.Integer(), total: Type.Integer() }),
    processingTimeMs: Type.Integer(),
    startedAt: Instant,
    completedAt: Instant,
    citations: Type.Optional(
      Type.Array(Citation, {
        description: 'The pages that the answer cites, in its order; only of a task with tools',
      }),
    ),
    toolUses: Type.Optional(
      Type.Integer({ description: 'How often the model used its tools; only of a task with tools' }),
    ),
    output: Type.Optional(Type.Unknown({ description: 'The parsed result of a task with an output schema' })),
    changed: Type.Optional(
      Type.Boolean({
        description:
          'Whether it differs from the last success; missing if there was none, and if `notify` is `always` without `watch`',
      }),
    ),
    changes: Type.Optional(Type.Array(OutputChange, { description: 'What differs; missing whenever `changed` is' })),
    outcome: Type.Optional({ ...ExecutionOutcome, description: 'Missing if nothing decides it' }),
    outcomeReason: Type.Optional(Type.String({ description: 'One sentence; missing whenever `outcome` is' })),
  }),
});

const AlertedTask = Type.Object({ id: Id, name: Type.String() });
const AlertedExecution = Type.Object({ id: Id, status: ExecutionStatus });
const LookedExecution = nullable({
  ...AlertedExecution,
  description: 'Null if the sources of the task were read and no run followed',
});

const Failed = Type.Object({
  task: Type.Object({ id: Id, name: Type.String(), status: TaskStatus }),
  execution: Type.Object({
    id: Id,
    status: ExecutionStatus,
    error: Type.String(),
    errorCode: ExecutionErrorCode,
    startedAt: nullable(Instant),
    failedAt: Instant,
    processingTimeMs: nullable(Type.Integer()),
  }),
  retryScheduled: Type.Boolean(),
  nextRetryAt: nullable(Instant),
});

/** The schema of `data` for each kind of event. */
export const EVENT_DATA = {
  'task.created': Type.Object({
    task: Type.Object({
      id: Id,
      name: Type.String(),
      prompt: Type.String(),
      recurrence: Recurrence,
      scheduledFor: Instant,
      status: TaskStatus,
      createdAt: Instant,
    }),
  }),
  'task.updated': Type.Object({
    task: Type.Object({ id: Id, name: Type.String(), updatedAt: Instant }),
    changes: Type.Record(
      Type.String(),
      Type.Object({
        from: Type.Unknown({ description: 'The previous value' }),
        to: Type.Unknown({ description: 'The new value' }),
      }),
    ),
  }),
  'task.deleted': Type.Object({ task: Type.Object({ id: Id, name: Type.String(), deletedAt: Instant }) }),
  'task.started': Started,
  'execution.started': Started,
  'task.completed': Completed,
  'execution.completed': Completed,
  'task.failed': Failed,
  'execution.failed': Failed,
  'task.changed': Completed,
  'task.overdue': Type.Object({
    task: AlertedTask,
    plannedFor: Type.Unsafe<Date | string>({
      ...Instant,
      description: 'The first planned instant without an ended run',
    }),
    overdueMinutes: Type.Integer({ description: 'The limit of the rule' }),
  }),
  'task.failing': Type.Object({
    task: AlertedTask,
    execution: LookedExecution,
    failuresInRow: Type.Integer(),
    error: Type.String({ description: 'Of the last run: its error, or why it was not done' }),
    errorCode: nullable({ ...ExecutionErrorCode, description: 'Null if the last run has completed and was not done' }),
    stopped: Type.Boolean({ description: 'Whether this failure has switched the task off' }),
    sources: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The names of the sources that cannot be read, if they are the reason',
      }),
    ),
  }),
  'task.recovered': Type.Object({
    task: AlertedTask,
    execution: LookedExecution,
    since: Type.Unsafe<Date | string>({ ...Instant, description: 'When the first alert was sent' }),
  }),
  'task.expensive': Type.Object({
    task: AlertedTask,
    execution: AlertedExecution,
    costUsd: Type.Number(),
    costAboveUsd: Type.Number({ description: 'The limit of the rule' }),
  }),
  'task.slow': Type.Object({
    task: AlertedTask,
    execution: AlertedExecution,
    durationMs: Type.Integer(),
    durationAboveMs: Type.Integer({ description: 'The limit of the rule' }),
  }),
  'task.degraded': Type.Object({
    task: AlertedTask,
    execution: AlertedExecution,
    fallbacksInRow: Type.Integer({ description: 'The limit of the rule' }),
    modelAttempts: Type.Array(ModelAttempt, { description: 'The models that the last of these runs asked' }),
  }),
  'scheduler.silent': Type.Object({
    lastCalledAt: Type.Unsafe<Date | string>({ ...Instant, description: 'When the scheduler last called' }),
  }),
  'usage.alert': Type.Object({
    resource: Type.String(),
    threshold: Type.Integer({ description: 'Percent of the monthly limit' }),
    percentage: Type.Number(),
    used: Type.Integer(),
    limit: Type.Integer(),
    period: Type.String({ description: '`YYYY-MM`' }),
  }),
  test: Type.Object({ message: Type.String(), testId: Type.String() }),
} satisfies Record<EventKind, TSchema>;

export type EventData<K extends EventKind = EventKind> = Static<(typeof EVENT_DATA)[K]>;

/** The schema of a whole payload. */
export const eventPayload = <K extends EventKind>(kind: K) =>
  Type.Object({
    event: Type.Literal(kind),
    timestamp: Instant,
    webhookId: Type.String(),
    userId: Id,
    data: EVENT_DATA[kind],
  });

export interface EventPayload<K extends EventKind = EventKind> {
  event: K;
  timestamp: string;
  webhookId: string;
  userId: number;
  data: EventData<K>;
}
