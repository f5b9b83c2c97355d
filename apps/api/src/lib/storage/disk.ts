import { once } from 'node:events';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { create } from 'content-disposition';
import { Disk } from 'flydrive';
import { FSDriver } from 'flydrive/drivers/fs';

export function createDiskObjects(folder: string) {
  createFolder(folder);
  const disk = new Disk(new FSDriver({ location: folder, visibility: 'private' }));
  return {
    async store(key: string, bytes: Readable) {
      try {
        // Reads only once the file is open: an earlier error would leave a file behind.
        await disk.putStream(key, Readable.from(bytes));
        await sync(join(folder, key));
        await sync(folder);
      } catch (error) {
        // A part of a file keeps a full disk full.
        await disk.delete(key).catch(() => {});
        throw error;
      }
    },
    async open(key: string): Promise<Readable | null> {
      const bytes = await disk.getStream(key);
      try {
        await once(bytes, 'open');
        return bytes;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
    remove: (key: string) => disk.delete(key),
    async close() {},
  };
}

/** For this user only. Throws if it is not writable. */
export function createFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.W_OK | constants.X_OK);
}

async function sync(path: string) {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** `Content-Disposition` of a download (RFC 6266). Any name gives a valid header. */
export const buildContentDisposition = (name: string): string =>
  create(name.toWellFormed().replaceAll(/\p{Cc}/gu, '_'));
