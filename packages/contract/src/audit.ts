import { type Static, Type } from '@sinclair/typebox';
import { Pagination, success } from './envelopes.ts';
import { ADMIN, errorResponses, type Operation } from './operation.ts';
import { Cursor, Id, Instant, nullable, Offset, pageLimit } from './primitives.ts';

/** The audit log; decisions §9. */

export const ListAuditQuery = Type.Object({
  userId: Type.Optional(Id),
  actorId: Type.Optional(Id),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Such as `user.changed`' })),
  limit: pageLimit(50),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListAuditQuery = Static<typeof ListAuditQuery>;

export const listAudit = {
  operationId: 'listAudit',
  summary: 'Who did what, to whom and from where, newest first',
  description: 'Sign-ins, and every change by an admin with what was before and after.',
  tags: ['admin'],
  security: ADMIN,
  querystring: ListAuditQuery,
  response: {
    200: Type.Object({
      success,
      entries: Type.Array(
        Type.Object({
          id: Type.Integer(),
          at: Instant,
          kind: Type.String({ description: '`<noun>.<what happened to it>`' }),
          actorId: nullable(Type.Integer({ description: 'Who did it; null where it was the service itself' })),
          actorEmail: nullable(Type.String()),
          userId: nullable(Type.Integer({ description: 'Whose account it concerns' })),
          details: Type.Record(Type.String(), Type.Unknown()),
          address: nullable(Type.String()),
          requestId: nullable(Type.String()),
        }),
      ),
      pagination: Pagination,
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;
