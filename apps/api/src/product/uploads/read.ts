import type { Readable } from 'node:stream';
import { uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';

interface OpenedFile {
  name: string;
  type: string;
  size: number;
  bytes: Readable;
}

/** The key is secret: no access check. Throws 404. */
export async function openUpload(ctx: Context, key: string): Promise<OpenedFile> {
  const { name, type, size } = uploads;
  const [found] = await ctx.db.select({ name, type, size }).from(uploads).where(eq(uploads.storageKey, key));
  const bytes = found && (await ctx.files.open(key));
  if (!bytes) throw new AppError('not_found', 'File not found');
  return { ...found, bytes };
}
