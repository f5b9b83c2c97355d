import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { uploads } from '@carillon/db';
import type { Context } from '../../src/context.ts';

export interface StoredAttachment {
  id: string;
  /** The key of the object in file storage, or null without one. */
  key: string | null;
}

/** Stores a file and inserts its row, as an upload does. */
export async function storeAttachment(
  { db, files, now }: Pick<Context, 'db' | 'files' | 'now'>,
  userId: number,
  { name, type, bytes }: { name: string; type: string; bytes: string | Uint8Array },
): Promise<StoredAttachment> {
  const id = randomUUID();
  const { storage } = files;
  const content = Buffer.from(bytes);
  const url = await files.store(id, Readable.from([content]), { name, type });
  const key = storage === 'blob' ? id : null;
  const row = { id, userId, name, type, size: content.length, storage, storageKey: key, url, uploadedAt: now() };
  await db.insert(uploads).values(row);
  return { id, key };
}

export const PNG = {
  name: 'tower.png',
  type: 'image/png',
  bytes: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
};
export const CSV = { name: 'bells.csv', type: 'text/csv', bytes: 'bell,weight\nGroße Glocke,"1,200 kg"\n' };
export const PDF = { name: 'plan.pdf', type: 'application/pdf', bytes: '%PDF-1.4\n%%EOF\n' };
