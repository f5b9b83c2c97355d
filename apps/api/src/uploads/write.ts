import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { UploadedFile } from '@carillon/contract/uploads';
import type { Caller, Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { inspect } from './inspect.ts';
import { type Kind, kindOf } from './kinds.ts';
import { cleanName } from './name.ts';
import { dropUpload, keepUpload, reserveUpload } from './reserve.ts';

/** A file as its client sends it. */
export interface GivenFile {
  /** With a path or without. */
  name: string;
  /** The declared MIME type. */
  type: string;
  /** Errors where what comes is not whole. */
  bytes: AsyncIterable<Buffer>;
}

/**
 * Stores a file of the caller's as it comes and returns its record (specification "Uploads"). Whatever goes wrong,
 * nothing of it stays. Refusals: 400 on `file` for its name, size, type or content, 402 beyond the plan's storage, 429
 * while 3 are under way, 503 where the storage cannot take it.
 */
export async function createUpload(ctx: Context, caller: Caller, given: GivenFile): Promise<UploadedFile> {
  const name = cleanName(given.name);
  const kind = kindOf(name, given.type);
  const key = await reserveUpload(ctx, caller, kind.extensions[0] as string);
  try {
    const { url, size } = await store(ctx, key, given, { name, kind });
    const { storage } = ctx.files;
    const upload = { id: randomUUID(), name, type: kind.type, size, storage, url, uploadedAt: ctx.now() };
    await keepUpload(ctx, caller, key, { ...upload, storageKey: storage === 'blob' ? key : null });
    ctx.metrics.fileStored(size);
    return upload;
  } catch (error) {
    await dropUpload(ctx, key, { failed: error instanceof StorageFailed });
    throw error;
  }
}

class StorageFailed extends AppError {
  constructor() {
    super('unavailable', 'The file could not be stored. Please try again.');
  }
}

async function store(ctx: Context, key: string, { bytes }: GivenFile, { name, kind }: { name: string; kind: Kind }) {
  const counted = { size: 0 };
  let refusal: AppError | undefined;
  async function* inspected() {
    try {
      yield* inspect(bytes, kind, counted);
    } catch (error) {
      // A storage wraps what the bytes failed by in an error of its own.
      if (error instanceof AppError) refusal = error;
      throw error;
    }
  }
  try {
    const url = await ctx.files.store(key, Readable.from(inspected(), { objectMode: false }), {
      name,
      type: kind.type,
    });
    return { url, size: counted.size };
  } catch (error) {
    if (refusal) throw refusal;
    ctx.log.error({ err: error }, 'a file was not stored');
    throw new StorageFailed();
  }
}
