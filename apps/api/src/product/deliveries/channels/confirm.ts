import { endpoints } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { lockConfirmation, requestConfirmations } from '../../notifications/addresses.ts';

interface Mailbox {
  /** Of the channel. */
  id: string;
  address: string;
  /** Whether the channel is to be active once its address is confirmed. Default: true. */
  isWanted?: boolean;
  /** Whether a link that still works is replaced by another one. */
  again?: boolean;
}

/**
 * Makes a saved e-mail channel active if its address is confirmed. If not, makes it inactive and mails a link to the
 * address, unless the last one still works or `again` is set. Call it in the transaction of the change.
 */
export async function requestChannelConfirmation(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  { id, address, isWanted = true, again = false }: Mailbox,
): Promise<void> {
  await requestConfirmations(ctx, caller.id, [address], { again });
  const isConfirmed = await lockConfirmation(ctx, caller.id, address);
  const status = isConfirmed && isWanted ? 'active' : 'inactive';
  await ctx.db.update(endpoints).set({ status }).where(eq(endpoints.id, id));
}
