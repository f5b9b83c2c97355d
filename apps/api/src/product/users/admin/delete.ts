import { normalizeEmail } from '@carillon/contract/validation/formats';
import type { Caller, Context } from '../../../context.ts';
import { invalidField } from '../../../errors.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { inTransaction } from '../../../transaction.ts';
import { lockUserTasks } from '../../tasks/suspend.ts';
import { deleteAccountData } from '../delete-account-data.ts';
import { lockAccount } from './lock-account.ts';

interface Typed {
  /** What the admin has typed to confirm the deletion. */
  email?: string;
}

/** Throws 404, 409 for the last active admin, and 400 for another address than the account has. */
export async function deleteAccount(ctx: Context, admin: Caller, id: number, typed: Typed = {}): Promise<void> {
  const running = await inTransaction(ctx, async (tx) => {
    await lockUserTasks(tx, id, 'update');
    const { email, role } = await lockAccount(tx, admin, id, { removesAdmin: true });
    if (typed.email !== undefined && normalizeEmail(typed.email) !== email) {
      throw invalidField('email', 'is not the address of this account');
    }
    const aborted = await deleteAccountData(tx, { id, email });
    await recordAudit(tx, {
      kind: 'user.deleted',
      ...describeActor(admin, id),
      details: { before: { email, role }, after: null },
    });
    return aborted;
  });
  ctx.worker.abort(running);
}
