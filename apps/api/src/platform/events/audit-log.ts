import { auditLog } from '@carillon/db';
import type { Texts } from '@carillon/texts';
import type { Context } from '../../context.ts';

export interface AuditEntry {
  /** `<noun>.<past participle>`, such as `user.signed_in`. The catalogs have its words. */
  kind: keyof Texts['audit']['events'];
  /** Null for the service itself. */
  actorId: number | null;
  actorEmail: string | null;
  userId: number | null;
  details?: Record<string, unknown>;
}

interface Actor {
  id: number;
  email: string | null;
}

/** A null actor is the service itself. `userId` is the account that is changed, by default the actor's own. */
export const describeActor = (
  actor: Actor | null,
  userId: number | null = actor?.id ?? null,
): Pick<AuditEntry, 'actorId' | 'actorEmail' | 'userId'> => ({
  actorId: actor?.id ?? null,
  actorEmail: actor?.email ?? null,
  userId,
});

/** Call it in the transaction of the recorded change. */
export async function recordAudit(ctx: Context, entry: AuditEntry): Promise<void> {
  await ctx.db.insert(auditLog).values(auditRow(ctx, entry));
}

export function auditRow(ctx: Context, { details = {}, ...entry }: AuditEntry) {
  const { origin, requestId = null } = ctx;
  return { ...entry, details, address: origin?.address ?? null, at: ctx.now(), requestId };
}
