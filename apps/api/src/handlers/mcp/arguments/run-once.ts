import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { openAnswer, releaseClaim, storeAnswer } from '../../../platform/http/idempotency/answers.ts';
import {
  type Claim,
  claimKey,
  createClaimRequest,
  type EncryptedAnswer,
} from '../../../platform/http/idempotency/claim.ts';
import { buildFingerprint } from '../../../platform/http/idempotency/fingerprint.ts';
import { inTransaction } from '../../../transaction.ts';
import type { ToolAnswer, ToolCall } from '../tool.ts';

export const RequestId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'A new random text. Repeat it to retry this call, which is then made once',
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
  const claim = await claimKey(ctx, caller.id, createClaimRequest(scope, null));
  if (claim.state === 'running') throw inProgress();
  if (claim.state !== 'claimed') return readAnswer(ctx, claim, claim.state, fingerprint);
  try {
    return await inTransaction(ctx, async (tx) => {
      const answer = await change(tx);
      const stored = { fingerprint, status: 200, location: null, body: JSON.stringify(answer) };
      if (!(await storeAnswer(tx, claim, stored))) throw inProgress();
      return answer;
    });
  } catch (error) {
    // Its lease ends it.
    await releaseClaim(ctx, claim).catch((err) => ctx.log.error({ err }, 'releasing a requestId failed'));
    throw error;
  }
}

/** Throws 422 for the answer to other arguments. */
function readAnswer(ctx: Context, claim: Claim, ciphertext: EncryptedAnswer, fingerprint: string): ToolAnswer {
  try {
    return JSON.parse(openAnswer(ctx, claim, ciphertext, fingerprint).body);
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
