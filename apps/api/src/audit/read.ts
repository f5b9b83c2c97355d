import type { ListAuditQuery } from '@carillon/contract/audit';
import { auditLog } from '@carillon/db';
import { and, desc, eq, lt } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { decodeIdCursor, splitPage } from '../queries/pages.ts';

/** The audit log, newest first (decisions §9); pages as those of `listTasks`. */
export async function listAudit(ctx: Context, query: ListAuditQuery) {
  const { userId, actorId, kind, limit } = query;
  const before = decodeIdCursor(query.cursor);
  const offset = before === null ? query.offset : 0;
  const matching = and(
    userId ? eq(auditLog.userId, userId) : undefined,
    actorId ? eq(auditLog.actorId, actorId) : undefined,
    kind ? eq(auditLog.kind, kind) : undefined,
  );
  const [rows, total] = await Promise.all([
    ctx.db
      .select()
      .from(auditLog)
      .where(and(matching, before === null ? undefined : lt(auditLog.id, before)))
      .orderBy(desc(auditLog.id))
      .limit(limit + 1)
      .offset(offset),
    before === null ? ctx.db.$count(auditLog, matching) : null,
  ]);
  const { page, hasMore, nextCursor } = splitPage(rows, limit, (entry) => entry.id);
  return { entries: page, pagination: { total, limit, offset, hasMore, nextCursor } };
}
