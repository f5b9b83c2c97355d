import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import { uploads } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { AiOutcome } from '../../../lib/ai/client.ts';
import type { AiAttachment } from '../../../lib/ai/request.ts';
import { MAX_ATTACHED_BYTES } from '../../uploads/attachments.ts';
import { type ByteBudget, type ByteReservation, createByteBudget } from './byte-budget.ts';
import type { ClaimedExecution } from './select-candidates.ts';

export interface AttachmentLimits {
  /** Bytes of files in memory; a provider request takes about eight times as much. */
  budget: ByteBudget;
  readMs: number;
}
const LIMITS: AttachmentLimits = { budget: createByteBudget(64 * 1024 * 1024), readMs: 60_000 };

/** Without an id for a prompt that is tried. */
type Execution = Pick<ClaimedExecution, 'userId' | 'attachmentIds'> & Partial<Pick<ClaimedExecution, 'id'>>;
type Failed = AiOutcome & { ok: false };

/**
 * Calls `ask` with the attachments in the order of the task, once they fit in the memory budget. A deleted file or an
 * unreachable storage is returned as a failure without calling `ask`.
 */
export async function withAttachments<T>(
  ctx: Context,
  execution: Execution,
  signal: AbortSignal,
  ask: (attachments: readonly AiAttachment[]) => Promise<T>,
  { budget, readMs }: AttachmentLimits = LIMITS,
): Promise<T | Failed> {
  if (execution.attachmentIds.length === 0) return ask([]);
  // The sizes are not known yet: a data URL is loaded with its row.
  const reserved = await budget.reserve(MAX_ATTACHED_BYTES, signal).catch(() => null);
  if (reserved === null) return ABORTED;
  using reservation = reserved;
  const loaded = await withTimeout(readMs, signal, load(ctx, execution, reservation)).catch((error) => {
    if (signal.aborted) return ABORTED;
    ctx.log.error({ err: error, executionId: execution.id }, 'reading attachments failed');
    return UNREACHABLE;
  });
  // Awaited: the reservation ends with this block.
  return loaded.ok ? await ask(loaded.attachments) : loaded;
}

async function load(
  ctx: Context,
  { userId, attachmentIds }: Execution,
  reservation: ByteReservation,
): Promise<{ ok: true; attachments: AiAttachment[] } | Failed> {
  const { id, name, type, size, storageKey, url } = uploads;
  const found = await ctx.db
    .select({ id, name, type, size, storageKey, url })
    .from(uploads)
    .where(and(eq(uploads.userId, userId), inArray(id, attachmentIds)));
  const bytes = found.reduce((sum, file) => sum + file.size, 0);
  if (bytes > MAX_ATTACHED_BYTES) return invalidRequest("The task's attachments have more than 20 MiB; change them.");
  reservation.shrinkTo(bytes);

  const files = new Map(found.map((file) => [file.id, file]));
  const read = await Promise.all(
    attachmentIds.map(async (id) => {
      const file = files.get(id);
      return { id, file, data: file ? await ctx.files.read(file) : null };
    }),
  );
  const missing = read.filter(({ data }) => data === null);
  if (missing.length > 0) return invalidRequest(describeMissing(missing.map(({ id, file }) => file?.name ?? id)));
  return {
    ok: true,
    attachments: read.flatMap(({ file, data }) =>
      file && data ? [{ name: file.name, mediaType: file.type, data }] : [],
    ),
  };
}

function describeMissing(names: readonly string[]): string {
  const shown = names.map((name) => JSON.stringify(toStorableText(name, 100))).join(', ');
  const which = names.length === 1 ? `attachment ${shown} has` : `attachments ${shown} have`;
  return `The ${which} been deleted; change the task's attachments.`;
}

/** `work` itself is not stopped. */
async function withTimeout<T>(ms: number, signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  const timer = setTimeout(() => reject(new Error(`Reading took more than ${ms} ms.`)), ms);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const fail = (errorCode: Failed['errorCode'], message: string, retryable: boolean): Failed => ({
  ok: false,
  errorCode,
  message,
  retryable,
  retryAfterMs: null,
  usage: null,
  durationMs: 0,
});
const invalidRequest = (message: string) => fail('INVALID_REQUEST', message, false);
const ABORTED = fail('INTERRUPTED', 'The run was aborted.', true);
const UNREACHABLE = fail(
  'PROVIDER_UNAVAILABLE',
  "File storage could not be reached, so the task's attachments could not be read and no model was asked.",
  true,
);
