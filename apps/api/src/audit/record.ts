import { auditLog } from '@carillon/db';
import type { Context } from '../context.ts';

export interface AuditEntry {
  /** `<noun>.<what happened to it>`, such as `user.signed_in`. */
  kind: `${string}.${string}`;
  /** Who did it; null where it was the service itself. */
  actorId: number | null;
  actorEmail: string | null;
  /** Whose account it concerns. */
  userId: number | null;
  details?: Record<string, unknown>;
}

/** Writes who did what to whom (decisions §9). Call it in the transaction of the change it tells of. */
export async function recordAudit(ctx: Context, entry: AuditEntry): Promise<void> {
  await ctx.db.insert(auditLog).values(auditRow(ctx, entry));
}

/** The row of `recordAudit`, for a statement that writes it beside something else. */
export function auditRow(ctx: Context, { details = {}, ...entry }: AuditEntry) {
  const { origin, requestId = null } = ctx;
  return { ...entry, details, address: origin?.address ?? null, at: ctx.now(), requestId };
}
