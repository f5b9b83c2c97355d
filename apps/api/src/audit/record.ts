import { auditLog } from '@carillon/db';
import type { Context } from '../context.ts';

export interface AuditEntry {
  /** `<noun>.<past participle>`, such as `user.signed_in`. */
  kind: `${string}.${string}`;
  /** Null for the service itself. */
  actorId: number | null;
  actorEmail: string | null;
  /** The account that it concerns. */
  userId: number | null;
  details?: Record<string, unknown>;
}

/** Writes an entry of the audit log. Call it in the transaction of the recorded change. */
export async function recordAudit(ctx: Context, entry: AuditEntry): Promise<void> {
  await ctx.db.insert(auditLog).values(auditRow(ctx, entry));
}

/** The row that `recordAudit` inserts, for a statement that also writes other tables. */
export function auditRow(ctx: Context, { details = {}, ...entry }: AuditEntry) {
  const { origin, requestId = null } = ctx;
  return { ...entry, details, address: origin?.address ?? null, at: ctx.now(), requestId };
}
