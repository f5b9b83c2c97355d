import { type Static, Type } from '@sinclair/typebox';
import { errors, Pagination, success } from './envelopes.ts';
import { type Operation, SIGNED_IN } from './operation.ts';
import {
  Cursor,
  DayOrInstantText,
  Id,
  IdParams,
  Instant,
  nullable,
  Offset,
  pageSize,
  ref,
  words,
} from './primitives.ts';

/** Specification "TaskExecution"; decisions §5, §7. */

export const EXECUTION_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export const ExecutionStatus = words(EXECUTION_STATUSES);
export type ExecutionStatus = Static<typeof ExecutionStatus>;

export const TRIGGERS = ['schedule', 'manual', 'inbound', 'retry'] as const;
export const Trigger = words(TRIGGERS);
export type Trigger = Static<typeof Trigger>;

export const ERROR_CODES = [
  'RATE_LIMIT_EXCEEDED',
  'TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_ERROR',
  'AUTHENTICATION_FAILED',
  'INVALID_REQUEST',
  'CONTENT_FILTERED',
  'QUOTA_EXCEEDED',
  'INTERRUPTED',
] as const;
export const ErrorCode = words(ERROR_CODES);
export type ErrorCode = Static<typeof ErrorCode>;

export const Execution = Type.Object(
  {
    id: Id,
    taskId: Id,
    userId: Id,
    status: ExecutionStatus,
    result: nullable(Type.String()),
    error: nullable(Type.String()),
    errorCode: nullable(ErrorCode),
    tokensUsed: nullable(Type.Integer()),
    tokens: nullable(
      Type.Object({
        input: Type.Integer(),
        output: Type.Integer(),
        total: Type.Integer(),
        estimated: Type.Boolean({ description: 'The provider sent no count' }),
      }),
    ),
    costUsd: nullable(Type.Number()),
    model: nullable(Type.String({ description: 'The model that answered' })),
    processingTimeMs: nullable(Type.Integer()),
    trigger: Trigger,
    plannedFor: nullable(Instant),
    attempt: Type.Integer(),
    retryOfId: nullable(Id),
    createdAt: Instant,
    startedAt: nullable(Instant),
    completedAt: nullable(Instant),
  },
  { $id: 'TaskExecution' },
);
export type Execution = Static<typeof Execution>;

export const ListExecutionsQuery = Type.Object({
  taskId: Type.Optional(Id),
  status: Type.Optional(ExecutionStatus),
  startDate: Type.Optional(DayOrInstantText),
  endDate: Type.Optional(DayOrInstantText),
  limit: pageSize(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListExecutionsQuery = Static<typeof ListExecutionsQuery>;

export const listExecutions = {
  operationId: 'listExecutions',
  summary: "The runs of the caller's tasks, newest first",
  tags: ['executions'],
  security: SIGNED_IN,
  querystring: ListExecutionsQuery,
  response: {
    200: Type.Object({ success, executions: Type.Array(ref(Execution)), pagination: Pagination }),
    ...errors(401, 429),
  },
} satisfies Operation;

export const getExecution = {
  operationId: 'getExecution',
  summary: 'One run',
  tags: ['executions'],
  security: SIGNED_IN,
  params: IdParams,
  response: {
    200: Type.Object({ success, execution: ref(Execution) }),
    ...errors(401, 404, 429),
  },
} satisfies Operation;
