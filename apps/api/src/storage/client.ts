import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../config/config.ts';
import { buildDataUrl, readDataUrl } from './base64.ts';
import { createDiskObjects } from './disk.ts';
import { createS3Objects } from './s3.ts';

export interface StoredBytes {
  /** Null if the bytes are in `url` itself. */
  storageKey: string | null;
  url: string;
}

export interface FileStorage {
  /** `blob` for disk and s3, `base64` for data URLs. */
  readonly storage: 'blob' | 'base64';
  /** Resolves to the file's URL once it is durable. After a rejection the caller removes what may have been stored. */
  store(key: string, bytes: Readable, about: { name: string; type: string }): Promise<string>;
  /** Null if the object no longer exists. Rejects if the storage cannot be reached. */
  read(file: StoredBytes): Promise<Buffer | null>;
  open(key: string): Promise<Readable | null>;
  remove(key: string): Promise<void>;
  close(): Promise<void>;
}

/** For a whole file: a storage that sends a byte now and then never exceeds the timeout between bytes. */
const READ_MS = 60_000;

/** Data URLs can be read whatever the driver is. Throws if a folder that the driver needs cannot be written. */
export function createFileStorage({ storage }: Pick<Config, 'storage'>, { readMs = READ_MS } = {}): FileStorage {
  if (storage.driver === 'base64') return dataUrlStorage;
  const objects = storage.driver === 's3' ? createS3Objects(storage) : createDiskObjects(storage.folder);
  return {
    ...objects,
    storage: 'blob',
    async store(key, bytes, about) {
      // An error before anyone reads would end the process; it reaches the reader all the same.
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
