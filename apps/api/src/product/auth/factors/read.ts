import { factors, recoveryCodes, sessions } from '@carillon/db';
import { and, asc, eq, isNotNull } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';

export const factorFields = {
  id: factors.id,
  kind: factors.kind,
  name: factors.name,
  createdAt: factors.createdAt,
  lastUsedAt: factors.lastUsedAt,
};

/** Those that sign-ins ask for. */
export const isOwnFactor = (userId: number) => and(eq(factors.userId, userId), isNotNull(factors.confirmedAt));

export async function listFactors(ctx: Context, { id }: Pick<Caller, 'id'>) {
  const [found, recoveryCodesLeft] = await Promise.all([
    ctx.db.select(factorFields).from(factors).where(isOwnFactor(id)).orderBy(asc(factors.createdAt), asc(factors.id)),
    ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, id)),
  ]);
  return { factors: found, recoveryCodesLeft };
}

export async function listFactorKinds(ctx: Context, userId: number) {
  const found = await ctx.db.selectDistinct({ kind: factors.kind }).from(factors).where(isOwnFactor(userId));
  return found.map(({ kind }) => kind).sort();
}

/** When a second factor was last given in a session; null if never. */
export async function findFactorAt(ctx: Context, sessionId: string): Promise<Date | null> {
  const [found] = await ctx.db.select({ at: sessions.factorAt }).from(sessions).where(eq(sessions.id, sessionId));
  return found?.at ?? null;
}
