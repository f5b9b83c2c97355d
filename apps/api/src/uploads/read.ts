import type { Readable } from 'node:stream';
import { isUuid } from '@carillon/contract/primitives';
import { uploads } from '@carillon/db';
import { and, desc, eq, inArray } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { Caller, Context } from '../context.ts';
import { AppError } from '../errors.ts';

export interface OpenedFile {
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

const NEWEST_FILES = 8;

/** The caller's files with these ids, and the newest ones, newest first. */
export async function listAttachable(ctx: Context, caller: Caller, ids: readonly string[]) {
  const { id, name, size, uploadedAt } = uploads;
  const own = eq(uploads.userId, caller.id);
  const select = () => ctx.db.select({ id, name, size, uploadedAt }).from(uploads);
  const newest = select().where(own).orderBy(desc(uploadedAt), desc(id)).limit(NEWEST_FILES);
  const named = ids.filter(isUuid);
  const found = await (named.length === 0 ? newest : unionAll(select().where(and(own, inArray(id, named))), newest));
  const files = [...new Map(found.map((file) => [file.id, file])).values()];
  return files.sort((a, b) => b.uploadedAt.getTime() - a.uploadedAt.getTime());
}
