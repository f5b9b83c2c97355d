import type { ListAuditQuery } from '@carillon/contract/admin/audit';
import { auditLog } from '@carillon/db';
import { and, desc, eq, lt } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { readCursorPage } from '../queries/pages.ts';

export async function listAudit(ctx: Context, { userId, actorId, kind, ...query }: ListAuditQuery) {
  const filter = and(
    userId ? eq(auditLog.userId, userId) : undefined,
    actorId ? eq(auditLog.actorId, actorId) : undefined,
    kind ? eq(auditLog.kind, kind) : undefined,
  );
  const { page, pagination } = await readCursorPage(
    query,
    ({ before, limit, offset }) =>
      ctx.db
        .select()
        .from(auditLog)
        .where(and(filter, before === null ? undefined : lt(auditLog.id, before)))
        .orderBy(desc(auditLog.id))
        .limit(limit)
        .offset(offset),
    () => ctx.db.$count(auditLog, filter),
  );
  return { entries: page, pagination };
}
