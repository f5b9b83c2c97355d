import type { InboundInput } from '@carillon/contract/inbound';
import { users, webhooks } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { executeTask } from '../executions/execute-task.ts';
import { webhookFields } from './read.ts';
import { isPathSafe, listBlindIndexes } from './secret.ts';
import { isSigned } from './signature.ts';

/** What an inbound path names; texts, whatever they are. */
export interface InboundPath {
  userId: string;
  secret: string;
}

/**
 * The active webhook of an inbound path. Whatever is wrong with it is refused alike: unknown user or secret, deleted,
 * inactive, failed, the account deactivated (404, security T5).
 */
export async function getInbound(ctx: Context, { userId, secret }: InboundPath) {
  if (!/^[1-9]\d{0,8}$/.test(userId) || !isPathSafe(secret)) return refuseInbound();
  const [webhook] = await ctx.db
    .select(webhookFields)
    .from(webhooks)
    .innerJoin(users, eq(users.id, webhooks.userId))
    .where(
      and(
        inArray(webhooks.secretLookup, listBlindIndexes(ctx, Number(userId), secret)),
        eq(webhooks.userId, Number(userId)),
        eq(webhooks.status, 'active'),
        eq(users.isActive, true),
      ),
    );
  return webhook ?? refuseInbound();
}

const refuseInbound = (): never => {
  throw new AppError('not_found', 'Webhook not found or inactive');
};

/** The id of the user whose webhook the path names, where `body`, as it came, is signed with its secret (else 401). */
export async function authenticateInbound(
  ctx: Context,
  path: InboundPath,
  body: Buffer,
  signature: unknown,
): Promise<number> {
  const { userId } = await getInbound(ctx, path);
  if (!isSigned(path.secret, body, signature)) throw new AppError('unauthenticated', 'Invalid signature');
  return userId;
}

/** Runs the task that an inbound call names, as its owner; null where it names none. Refusals: 404 and 402. */
export async function triggerInbound(ctx: Context, userId: number, { taskId }: InboundInput): Promise<number | null> {
  if (taskId === undefined) return null;
  const { executionId } = await executeTask(ctx, { id: userId }, taskId, 'inbound');
  return executionId;
}
