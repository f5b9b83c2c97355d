import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import {
  createKeyLockRequest,
  type EncryptedResponse,
  type KeyLock,
  lockKey,
} from '../../../platform/http/idempotency/key-lock.ts';
import {
  buildFingerprint,
  decryptResponse,
  releaseKey,
  storeResponse,
} from '../../../platform/http/idempotency/stored-responses.ts';
import { inTransaction } from '../../../transaction.ts';
import type { ToolAnswer, ToolCall } from '../tool.ts';

export const RequestId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'A new random text. Repeat it to retry this call; it takes effect once',
  }),
);

/**
 * Makes a change in one transaction, and once for each `requestId`, as a POST with an `Idempotency-Key`: the answer is
 * committed with the change. Throws 409 while the first call runs, and 422 for the same id with other arguments.
 */
export async function runOnce(
  { ctx, caller, tool }: Pick<ToolCall, 'ctx' | 'caller' | 'tool'>,
  { requestId, ...input }: { requestId?: string },
  change: (tx: Context) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  if (requestId === undefined) return inTransaction(ctx, change);
  const fingerprint = buildFingerprint(input);
  const scope = createHash('sha256')
    .update(JSON.stringify(['tool', tool, requestId]))
    .digest('hex');
  const lock = await lockKey(ctx, caller.id, createKeyLockRequest(scope, null));
  if (lock.state === 'running') throw inProgress();
  if (lock.state !== 'locked') return readAnswer(ctx, lock, lock.state, fingerprint);
  try {
    return await inTransaction(ctx, async (tx) => {
      const answer = await change(tx);
      const stored = { fingerprint, status: 200, location: null, body: JSON.stringify(answer) };
      if (!(await storeResponse(tx, lock, stored))) throw inProgress();
      return answer;
    });
  } catch (error) {
    // Its lease ends it.
    await releaseKey(ctx, lock).catch((err) => ctx.log.error({ err }, 'releasing a requestId failed'));
    throw error;
  }
}

/** Throws 422 for the answer to other arguments. */
function readAnswer(ctx: Context, lock: KeyLock, ciphertext: EncryptedResponse, fingerprint: string): ToolAnswer {
  try {
    return JSON.parse(decryptResponse(ctx, lock, ciphertext, fingerprint).body);
  } catch (error) {
    const isReused = error instanceof AppError && error.kind === 'idempotency_key_reused';
    throw isReused ? new AppError('idempotency_key_reused', REUSED) : error;
  }
}

const REUSED = 'This requestId was sent with other arguments before. Use a new one for another call.';

const inProgress = () =>
  new AppError(
    'request_in_progress',
    'The first call with this requestId is in progress. Retry in a second.',
    undefined,
    1,
  );
