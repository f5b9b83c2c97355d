import { parseId } from '@carillon/contract/validation/formats';
import type { InboundInput } from '@carillon/contract/webhooks/inbound';
import { endpoints, users } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { AppError, invalidField } from '../../errors.ts';
import { isPathSafe, isSigned, listBlindIndexes } from '../deliveries/queue/secret.ts';
import { webhookFields } from '../deliveries/webhooks/read.ts';
import { executeTask } from './start.ts';

/** As JSON. */
const MAX_DATA_BYTES = 32 * 1024;

export interface InboundPath {
  userId: string;
  secret: string;
}

/** Every failure is the same 404, so that a caller learns nothing about a user. */
export async function getInbound(ctx: Context, path: InboundPath) {
  const userId = parseId(path.userId);
  if (userId === null || !isPathSafe(path.secret)) throw inboundNotFound();
  const [webhook] = await ctx.db
    .select(webhookFields)
    .from(endpoints)
    .innerJoin(users, eq(users.id, endpoints.userId))
    .where(
      and(
        inArray(endpoints.secretLookup, listBlindIndexes(ctx, userId, path.secret)),
        eq(endpoints.userId, userId),
        eq(endpoints.status, 'active'),
        eq(users.isActive, true),
      ),
    );
  if (!webhook) throw inboundNotFound();
  return webhook;
}

const inboundNotFound = () => new AppError('not_found', 'Webhook not found or inactive');

/** Returns the webhook's user; throws 401 unless `body` is signed with its secret. */
export async function authenticateInbound(
  ctx: Context,
  path: InboundPath,
  body: Buffer,
  signature: unknown,
): Promise<number> {
  const { userId } = await getInbound(ctx, path);
  if (!isSigned(path.secret, body, signature)) throw new AppError('wrong_signature', 'Invalid signature');
  return userId;
}

/** Returns the id of the execution; null without a `taskId`. Throws 400, 404, 402. */
export async function triggerInbound(
  ctx: Context,
  userId: number,
  { taskId, data }: InboundInput,
): Promise<number | null> {
  if (taskId === undefined) return null;
  if (data && Buffer.byteLength(JSON.stringify(data)) > MAX_DATA_BYTES) {
    throw invalidField('data', 'must have at most 32 KiB as JSON');
  }
  const { executionId } = await executeTask(ctx, { id: userId }, taskId, 'inbound', data);
  return executionId;
}
