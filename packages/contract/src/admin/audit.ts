import { type Static, Type } from '@sinclair/typebox';
import { Pagination, success } from '../envelopes.ts';
import { ADMIN, errorResponses, type Operation } from '../operation.ts';
import { Cursor, Id, Instant, nullable, Offset, pageLimit, ref } from '../primitives.ts';

export const ListAuditQuery = Type.Object({
  userId: Type.Optional(Id),
  actorId: Type.Optional(Id),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'For example `user.changed`' })),
  limit: pageLimit(50),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListAuditQuery = Static<typeof ListAuditQuery>;

export const AuditEntry = Type.Object(
  {
    id: Type.Integer(),
    at: Instant,
    kind: Type.String({ description: '`<noun>.<past participle>`' }),
    actorId: nullable(Type.Integer({ description: 'The account that did it; null for the service itself' })),
    actorEmail: nullable(Type.String()),
    userId: nullable(Type.Integer({ description: 'The account concerned' })),
    details: Type.Record(Type.String(), Type.Unknown()),
    address: nullable(Type.String()),
    requestId: nullable(Type.String()),
  },
  { $id: 'AuditEntry' },
);

export const listAudit = {
  operationId: 'listAudit',
  summary: 'List audit log entries',
  description:
    'Returns sign-ins, every change by an administrator with the values before and after, and every change by an assistant, newest first. Pages by `offset`, or by `cursor`, which stays fast on late pages and takes precedence if both are given.',
  tags: ['admin'],
  security: ADMIN,
  querystring: ListAuditQuery,
  response: {
    200: Type.Object({
      success,
      entries: Type.Array(ref(AuditEntry)),
      pagination: Pagination,
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;
