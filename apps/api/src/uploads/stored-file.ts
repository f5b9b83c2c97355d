import type { Readable } from 'node:stream';
import { uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';

/** An uploaded file with its bytes, which whoever takes it has to read or destroy. */
export interface ServedFile {
  name: string;
  type: string;
  /** In bytes. */
  size: number;
  bytes: Readable;
}

/**
 * The file of an upload by its storage key, whoever asks: the key cannot be guessed. Refusals: 404 where no upload has
 * the key, whatever there is in the storage, and where its bytes are gone.
 */
export async function openFile(ctx: Context, key: string): Promise<ServedFile> {
  const { name, type, size } = uploads;
  const [found] = await ctx.db.select({ name, type, size }).from(uploads).where(eq(uploads.storageKey, key));
  const bytes = found && (await ctx.files.open(key));
  if (!bytes) throw new AppError('not_found', 'File not found');
  return { ...found, bytes };
}
