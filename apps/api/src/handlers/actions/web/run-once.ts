import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createKeyLockRequest,
  type KeyLock,
  type KeyLockRequest,
  lockKey,
} from '../../../platform/http/idempotency/key-lock.ts';
import {
  buildFingerprint,
  decryptResponse,
  releaseKey,
  requestInProgress,
  storeResponse,
} from '../../../platform/http/idempotency/stored-responses.ts';
import type { Call } from '../mappings.ts';

const POLL_MS = 200;

/** How long the transactions that start runs may take. */
export const RUN_MS = 30_000;

interface Once {
  action: string;
  /** Names what the form was sent for, such as one showing of it; without one the work is always done. */
  attempt: string | undefined;
  input: unknown;
  /** How long the work may take. */
  leaseMs: number;
  /** How long the answer is kept. Default: as those of an `Idempotency-Key`. */
  keepMs?: number;
}

/** Does the work of a form once: the same form sent again waits for the first answer, and gets it. */
export async function runOnce<T>(
  { ctx, caller }: Call,
  { action, attempt, input, leaseMs, keepMs }: Once,
  work: () => Promise<T>,
): Promise<T> {
  if (attempt === undefined) return work();
  const fingerprint = buildFingerprint(input);
  const scope = createHash('sha256')
    .update(JSON.stringify([action, attempt, fingerprint]))
    .digest('hex');
  const lock = await waitForKey({ ctx, caller }, createKeyLockRequest(scope, leaseMs, keepMs));
  if (typeof lock.state === 'object') return JSON.parse(decryptResponse(ctx, lock, lock.state, fingerprint).body);
  try {
    const result = await work();
    // The work is done, and its answer is worth more than the error.
    await storeResponse(ctx, lock, { fingerprint, status: 200, location: null, body: JSON.stringify(result) }).catch(
      (error) => ctx.log.error({ err: error }, 'storing the answer of a form failed'),
    );
    return result;
  } catch (error) {
    await releaseKey(ctx, lock);
    throw error;
  }
}

/** Throws 409 if the first request takes longer than its work may take. */
async function waitForKey({ ctx, caller }: Call, request: KeyLockRequest): Promise<KeyLock> {
  const tries = Math.ceil((request.leaseMs ?? 0) / POLL_MS);
  for (let count = 0; count <= tries; count += 1) {
    const lock = await lockKey(ctx, caller.id, request);
    if (lock.state !== 'running') return lock;
    await delay(POLL_MS);
  }
  throw requestInProgress();
}
