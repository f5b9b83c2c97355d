import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DeleteUploadInput, UploadedFile } from '@carillon/contract/uploads';
import { orphanedObjects, tasks, uploads } from '@carillon/db';
import { and, arrayContains, asc, desc, eq, ne, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, invalidField } from '../../errors.ts';
import { inTransaction } from '../../transaction.ts';
import { type FileFormat, getFileFormat } from './file-formats.ts';
import { inspect } from './inspect.ts';
import { completeUpload, discardUpload, reserveUpload } from './reservation.ts';
import { addToTotals, lockTotals } from './totals.ts';

const MAX_NAME = 255;
/** Control characters, line separators, and marks that reverse the order of letters: `invoice‮fdp.exe`. */
const DECEPTIVE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const MAX_LISTED_TASKS = 100;

export interface SentFile {
  name: string;
  type: string;
  bytes: AsyncIterable<Buffer>;
}

/** Throws 400 on `file`, 402 over the quota, 429 while 3 uploads run, 503. */
export async function createUpload(
  ctx: Context,
  caller: Caller,
  sent: SentFile,
): Promise<UploadedFile & { id: string }> {
  const name = cleanName(sent.name);
  const format = getFileFormat(name, sent.type);
  const key = await reserveUpload(ctx, caller, format.extensions[0] as string);
  try {
    const { url, size } = await storeFile(ctx, key, sent.bytes, name, format);
    const { storage } = ctx.files;
    const upload = { id: randomUUID(), name, type: format.mime, size, storage, url, uploadedAt: ctx.now() };
    await completeUpload(ctx, caller, key, { ...upload, storageKey: storage === 'blob' ? key : null });
    ctx.metrics.fileStored(size);
    return upload;
  } catch (error) {
    await discardUpload(ctx, key, { failed: error instanceof StorageFailed });
    throw error;
  }
}

/** For display only, never for a path. */
function cleanName(path: string): string {
  const name = (path.split(/[/\\]/).at(-1) ?? '').normalize('NFC').trim();
  if (name === '' || name === '.' || name === '..') throw invalidField('file', 'must have a name');
  if (DECEPTIVE.test(name)) throw invalidField('file', 'must not have control or direction characters in its name');
  if ([...name].length > MAX_NAME) throw invalidField('file', `must have a name of at most ${MAX_NAME} characters`);
  return name;
}

class StorageFailed extends AppError {
  constructor() {
    super('unavailable', 'The file could not be stored. Please try again.');
  }
}

async function storeFile(ctx: Context, key: string, bytes: SentFile['bytes'], name: string, format: FileFormat) {
  const counted = { size: 0 };
  let invalid: AppError | undefined;
  async function* inspected() {
    try {
      yield* inspect(bytes, format, counted);
    } catch (error) {
      // The storage wraps errors of its source.
      if (error instanceof AppError) invalid = error;
      throw error;
    }
  }
  try {
    const source = Readable.from(inspected(), { objectMode: false });
    return { url: await ctx.files.store(key, source, { name, type: format.mime }), size: counted.size };
  } catch (error) {
    if (invalid) throw invalid;
    ctx.log.error({ err: error }, 'storing a file failed');
    throw new StorageFailed();
  }
}

/** Returns the caller's tasks with this file. Throws 400, 404, and 403 for another user's file. */
export async function deleteUpload(
  ctx: Context,
  caller: Caller,
  input: DeleteUploadInput,
): Promise<{ id: number; name: string }[]> {
  const file = await findUpload(ctx, caller, input);
  if (!file) throw uploadNotFound();
  if (file.userId !== caller.id) throw new AppError('forbidden', 'This file belongs to another user.');
  return inTransaction(ctx, async (tx) => {
    await lockTotals(tx, caller);
    const [deleted] = await tx.db
      .delete(uploads)
      .where(eq(uploads.id, file.id))
      .returning({ size: uploads.size, key: uploads.storageKey });
    if (!deleted) throw uploadNotFound();
    await addToTotals(tx, caller.id, { bytes: -deleted.size, files: -1 });
    if (deleted.key !== null) await tx.db.insert(orphanedObjects).values({ key: deleted.key, deleteAfter: tx.now() });
    return (
      tx.db
        .select({ id: tasks.id, name: tasks.name })
        .from(tasks)
        // `ne` matches the partial index.
        .where(and(eq(tasks.userId, caller.id), ne(tasks.attachments, []), arrayContains(tasks.attachments, [file.id])))
        .orderBy(asc(tasks.id))
        .limit(MAX_LISTED_TASKS)
    );
  });
}

/** The hash is indexed. Users may share a data URL: the caller's comes first. */
async function findUpload({ db }: Context, caller: Caller, { url, id }: DeleteUploadInput) {
  if (url !== undefined && id !== undefined) throw invalidField('id', 'cannot be combined with url');
  if (url === undefined && id === undefined) throw invalidField('url', 'is required, or id');
  const condition =
    url === undefined
      ? eq(uploads.id, id as string)
      : and(sql`md5(${uploads.url}) = ${createHash('md5').update(url).digest('hex')}`, eq(uploads.url, url));
  const [file] = await db
    .select({ id: uploads.id, userId: uploads.userId })
    .from(uploads)
    .where(condition)
    .orderBy(sql`${uploads.userId} = ${caller.id} desc`, desc(uploads.uploadedAt), asc(uploads.id))
    .limit(1);
  return file;
}

const uploadNotFound = () => new AppError('not_found', 'File not found');
