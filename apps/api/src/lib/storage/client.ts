import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../config/config.ts';
import { createDiskObjects } from './disk.ts';
import { createS3Objects } from './s3.ts';

interface StoredBytes {
  /** Null for a data URL. */
  storageKey: string | null;
  url: string;
}

export interface FileStorage {
  readonly storage: 'blob' | 'base64';
  /** Resolves to the durable file's URL. After a rejection the caller deletes the object. */
  store(key: string, bytes: Readable, about: { name: string; type: string }): Promise<string>;
  /** Null for a missing object; rejects if storage is unreachable. */
  read(file: StoredBytes): Promise<Buffer | null>;
  open(key: string): Promise<Readable | null>;
  remove(key: string): Promise<void>;
  close(): Promise<void>;
}

/** For a whole file: a trickle of bytes never exceeds the idle timeout. */
const READ_MS = 60_000;

/** Reads data URLs with any driver. Throws if its folder is not writable. */
export function createFileStorage({ storage }: Pick<Config, 'storage'>, { readMs = READ_MS } = {}): FileStorage {
  if (storage.driver === 'base64') return dataUrlStorage;
  const objects = storage.driver === 's3' ? createS3Objects(storage) : createDiskObjects(storage.folder);
  return {
    ...objects,
    storage: 'blob',
    async store(key, bytes, about) {
      // An early error would end the process; the reader gets it too.
      bytes.once('error', () => {});
      await objects.store(key, bytes, about);
      return `${storage.url}/${key}`;
    },
    async read({ storageKey, url }) {
      if (storageKey === null) return readDataUrl(url);
      const found = await objects.open(storageKey);
      return found && buffer(addAbortSignal(AbortSignal.timeout(readMs), found));
    },
  };
}

const dataUrlStorage: FileStorage = {
  storage: 'base64',
  store: async (_key, bytes, { type }) => buildDataUrl(await buffer(bytes), type),
  read: async ({ storageKey, url }) => (storageKey === null ? readDataUrl(url) : null),
  open: async () => null,
  remove: async () => {},
  close: async () => {},
};

const buildDataUrl = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString('base64')}`;

const readDataUrl = (url: string) => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
