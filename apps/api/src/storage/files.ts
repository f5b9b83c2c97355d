import { addAbortSignal, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../config/config.ts';
import { dataUrl, readDataUrl } from './base64.ts';
import { diskObjects } from './disk.ts';
import { s3Objects } from './s3.ts';

/** What a row of `uploads` says of where its bytes are. */
export interface StoredFile {
  /** Null where the bytes are in `url` itself. */
  storageKey: string | null;
  url: string;
}

/** The storage of uploaded files (decisions §1, `STORAGE_DRIVER`). */
export interface Files {
  /** `blob` for disk and s3, `base64` for data URLs (specification "Uploaded file record"). */
  readonly storage: 'blob' | 'base64';
  /**
   * Streams `bytes` to the storage under `key`, a name of letters, digits, `-`, `_` and `.`; resolves to the file's URL
   * once they are durable. Rejects when the storage fails or `bytes` errors; a half-written object may stay: the caller
   * removes it.
   */
  store(key: string, bytes: Readable, about: { name: string; type: string }): Promise<string>;
  /** The bytes of a file; null when there is no such object any more. Rejects when the storage cannot be reached. */
  read(file: StoredFile): Promise<Buffer | null>;
  /** An object as a stream, for serving; null when there is none. */
  open(key: string): Promise<Readable | null>;
  /** Deletes an object; one that is not there is fine. */
  remove(key: string): Promise<void>;
  close(): Promise<void>;
}

/** A storage that drips is never silent for long: reading a whole file takes no longer than this, in milliseconds. */
const READ_MS = 60_000;

/**
 * The storage that is configured. Data URLs are read whatever it is. Throws where a folder that it needs cannot be
 * written.
 */
export function createFiles({ storage }: Pick<Config, 'storage'>, { readMs = READ_MS } = {}): Files {
  if (storage.driver === 'base64') return inDataUrls;
  const objects = storage.driver === 's3' ? s3Objects(storage) : diskObjects(storage.folder);
  return {
    ...objects,
    storage: 'blob',
    async store(key, bytes, about) {
      // An error that comes before anybody reads is told to whoever does: it shall not end the process.
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

/** There are no objects: a file is its URL. */
const inDataUrls: Files = {
  storage: 'base64',
  store: async (_key, bytes, { type }) => dataUrl(await buffer(bytes), type),
  read: async ({ storageKey, url }) => (storageKey === null ? readDataUrl(url) : null),
  open: async () => null,
  remove: async () => {},
  close: async () => {},
};
