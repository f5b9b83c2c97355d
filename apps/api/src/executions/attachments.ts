import { uploads } from '@carillon/db';
import { toStorableText } from '@carillon/db/storable-text';
import { and, eq, inArray } from 'drizzle-orm';
import type { AiOutcome } from '../ai/client.ts';
import type { AiAttachment } from '../ai/request.ts';
import type { Context } from '../context.ts';
import { MAX_ATTACHED_BYTES } from '../uploads/attachments.ts';
import { type ByteBudget, createByteBudget, type Share } from './byte-budget.ts';
import type { ClaimedExecution } from './select-runnable.ts';

/** What bounds the attachments of all runs of a process. */
export interface AttachmentLimits {
  /** For the bytes of the files. As JSON, on their way to a provider, they take some eight times as much memory. */
  budget: ByteBudget;
  /** How long the files of a run may take to arrive. */
  readMs: number;
}
const LIMITS: AttachmentLimits = { budget: createByteBudget(64 * 1024 * 1024), readMs: 60_000 };

type Run = Pick<ClaimedExecution, 'id' | 'userId' | 'attachmentIds'>;
type Failed = AiOutcome & { ok: false };

/**
 * What `ask` comes to with the attachments of the run, in the task's order. They are in memory until it has ended, so a
 * run whose files do not fit beside those of others waits its turn. Where one was deleted, or storage cannot be reached,
 * `ask` is not called and that is the outcome. Never rejects unless `ask` does.
 */
export async function withAttachments(
  ctx: Context,
  run: Run,
  signal: AbortSignal,
  ask: (attachments: readonly AiAttachment[]) => Promise<AiOutcome>,
  { budget, readMs }: AttachmentLimits = LIMITS,
): Promise<AiOutcome> {
  if (run.attachmentIds.length === 0) return ask([]);
  // The most that a run may have, until its rows say how much it has: a data URL comes with its row.
  const taken = await budget.take(MAX_ATTACHED_BYTES, signal).catch(() => null);
  if (taken === null) return ABORTED;
  using share = taken;
  const loaded = await within(readMs, signal, load(ctx, run, share)).catch((error) => {
    if (signal.aborted) return ABORTED;
    ctx.log.error({ err: error, executionId: run.id }, 'attachments could not be read');
    return UNREACHABLE;
  });
  // Awaited here: the share is given back at the end of this block.
  return loaded.ok ? await ask(loaded.attachments) : loaded;
}

async function load(
  ctx: Context,
  { userId, attachmentIds }: Run,
  share: Share,
): Promise<{ ok: true; attachments: AiAttachment[] } | Failed> {
  const { id, name, type, size, storageKey, url } = uploads;
  const found = await ctx.db
    .select({ id, name, type, size, storageKey, url })
    .from(uploads)
    .where(and(eq(uploads.userId, userId), inArray(id, attachmentIds)));
  const bytes = found.reduce((sum, file) => sum + file.size, 0);
  if (bytes > MAX_ATTACHED_BYTES) return refused("The task's attachments have more than 20 MiB; change them.");
  share.shrinkTo(bytes);

  const files = new Map(found.map((file) => [file.id, file]));
  const read = await Promise.all(
    attachmentIds.map(async (id) => {
      const file = files.get(id);
      return { id, file, data: file ? await ctx.files.read(file) : null };
    }),
  );
  const missing = read.filter(({ data }) => data === null);
  if (missing.length > 0) return refused(wordMissing(missing.map(({ id, file }) => file?.name ?? id)));
  return {
    ok: true,
    attachments: read.flatMap(({ file, data }) =>
      file && data ? [{ name: file.name, mediaType: file.type, data }] : [],
    ),
  };
}

function wordMissing(names: readonly string[]): string {
  const shown = names.map((name) => JSON.stringify(toStorableText(name, 100))).join(', ');
  const which = names.length === 1 ? `attachment ${shown} has` : `attachments ${shown} have`;
  return `The ${which} been deleted; change the task's attachments.`;
}

/** Rejects as soon as `ms` are over or `signal` is aborted, whatever becomes of `work`. */
async function within<T>(ms: number, signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  const timer = setTimeout(() => reject(new Error(`They took more than ${ms} ms.`)), ms);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const failed = (errorCode: Failed['errorCode'], message: string, retryable: boolean): Failed => ({
  ok: false,
  errorCode,
  message,
  retryable,
  retryAfterMs: null,
  usage: null,
  durationMs: 0,
});
const refused = (message: string) => failed('INVALID_REQUEST', message, false);
const ABORTED = failed('INTERRUPTED', 'The run was aborted.', true);
const UNREACHABLE = failed(
  'PROVIDER_UNAVAILABLE',
  "File storage could not be reached, so the task's attachments could not be read and no model was asked.",
  true,
);
