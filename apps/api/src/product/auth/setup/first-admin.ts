import { settings } from '@carillon/db';
import type { Context } from '../../../context.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { inTransaction } from '../../../transaction.ts';
import { hashPassword } from '../passwords.ts';
import { openSession } from '../sessions.ts';
import { insertAccount, type NewAccount } from '../write.ts';
import { getSetupState, hasAccounts, type SetupState } from './link.ts';

interface SetUp {
  state: SetupState;
  /** Null unless the admin was made. */
  opened: { session: string; expiresAt: Date } | null;
}

/** Makes the first admin and signs in. Of concurrent requests, at any process, one wins; the others find the link used. */
export async function setUp(ctx: Context, { token, ...account }: NewAccount & { token: string }): Promise<SetUp> {
  const state = await getSetupState(ctx, token);
  if (state !== 'open') return { state, opened: null };
  const passwordHash = await hashPassword(account.password);
  const userId = await inTransaction(ctx, async (tx) => {
    // The one row that every installation has: a request that waits for it sees the account of the winner.
    await tx.db.select({ id: settings.id }).from(settings).for('update');
    if (await hasAccounts(tx)) return null;
    const admin = await insertAccount(tx, { ...account, passwordHash, role: 'ADMIN' });
    if (!admin) return null;
    const details = { by: 'setup link', role: 'ADMIN' };
    await recordAudit(tx, { kind: 'user.registered', ...describeActor(admin), details });
    return admin.id;
  });
  if (userId === null) return { state: 'used', opened: null };
  const { token: session, expiresAt } = await openSession(ctx, userId);
  return { state, opened: { session, expiresAt } };
}
