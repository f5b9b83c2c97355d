import type { BrowseAuditQuery } from '@carillon/contract/actions/web/admin';
import type { ListAuditQuery } from '@carillon/contract/admin/audit';
import { normalizeEmail, parseId } from '@carillon/contract/validation/formats';
import { auditLog, users } from '@carillon/db';
import { and, type Column, desc, eq, lt, type SQL } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { decodeIdCursor, readCursorPage, splitPage } from '../../platform/queries/pages.ts';

export async function listAudit(ctx: Context, { userId, actorId, kind, ...query }: ListAuditQuery) {
  const filter = and(
    userId ? eq(auditLog.userId, userId) : undefined,
    actorId ? eq(auditLog.actorId, actorId) : undefined,
    kind ? eq(auditLog.kind, kind) : undefined,
  );
  const { page, pagination } = await readCursorPage(
    query,
    (slice) => findEntries(ctx, filter, slice),
    () => ctx.db.$count(auditLog, filter),
  );
  return { entries: page, pagination };
}

/** As `listAudit`, without counting what matches; an account may be named by its number or its e-mail address. */
export async function browseAudit(ctx: Context, { account, actor, kind, limit, cursor }: BrowseAuditQuery) {
  const filter = and(
    account ? isAccount(ctx, auditLog.userId, account) : undefined,
    actor ? isAccount(ctx, auditLog.actorId, actor) : undefined,
    kind ? eq(auditLog.kind, kind) : undefined,
  );
  const slice = { before: decodeIdCursor(cursor), limit: limit + 1, offset: 0 };
  const { page, nextCursor } = splitPage(await findEntries(ctx, filter, slice), limit, ({ id }) => id);
  return { entries: page, nextCursor };
}

function isAccount({ db }: Context, column: Column, named: string): SQL {
  const id = parseId(named.trim());
  if (id !== null) return eq(column, id);
  return eq(
    column,
    db
      .select({ id: users.id })
      .from(users)
      .where(eq(users.email, normalizeEmail(named))),
  );
}

interface Slice {
  before: number | null;
  limit: number;
  offset: number;
}

const findEntries = ({ db }: Context, filter: SQL | undefined, { before, limit, offset }: Slice) =>
  db
    .select()
    .from(auditLog)
    .where(and(filter, before === null ? undefined : lt(auditLog.id, before)))
    .orderBy(desc(auditLog.id))
    .limit(limit)
    .offset(offset);
