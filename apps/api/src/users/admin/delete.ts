import { describeActor, recordAudit } from '../../audit/record.ts';
import { type Caller, type Context, inTransaction } from '../../context.ts';
import { lockUserTasks } from '../../tasks/suspend.ts';
import { deleteAccountData } from '../delete-account-data.ts';
import { lockAccount } from './lock-account.ts';

/** Throws 404, and 409 for the last active admin. */
export async function deleteAccount(ctx: Context, admin: Caller, id: number): Promise<void> {
  const running = await inTransaction(ctx, async (tx) => {
    await lockUserTasks(tx, id, 'update');
    const { email, role } = await lockAccount(tx, admin, id, { removesAdmin: true });
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
