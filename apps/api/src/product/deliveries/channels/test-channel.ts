import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { CHANNEL_TESTS, userKey } from '../../../platform/limits/rates.ts';
import { assertRateLimit } from '../../../platform/limits/windows.ts';
import { sendTest, type TestResult } from '../queue/test-delivery.ts';
import { getChannel, ownChannel, toChannelEntry } from './read.ts';

type ChannelTestResult = TestResult<ReturnType<typeof toChannelEntry>>;

/** Sends a test message at once, to an inactive channel too. Throws 404, 409 for an unconfirmed address, 429, 503. */
export async function testChannel(ctx: Context, caller: Caller, id: string): Promise<ChannelTestResult> {
  const { isConfirmed } = await getChannel(ctx, caller, id);
  if (!isConfirmed) throw new AppError('conflict', 'The e-mail address is not confirmed yet: open the link first.');
  await assertRateLimit(ctx, CHANNEL_TESTS, userKey(CHANNEL_TESTS, caller.id));
  return sendTest(ctx, caller, { receiver: ownChannel(caller, id), toEntry: toChannelEntry });
}
