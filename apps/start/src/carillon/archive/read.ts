import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { extract as startExtract } from 'tar-stream';
import { CommandFailure } from '../command.ts';
import { type EntryName, readName } from './format.ts';

export interface ArchiveEntry {
  name: EntryName;
  /** In bytes. */
  size: number;
  bytes: AsyncIterable<Buffer>;
}

/**
 * The entries of an archive, each read or passed over before the next one comes. `onRead` is told how many bytes of the
 * file were read so far. Throws a `CommandFailure` where it is no archive, damaged or cut off.
 */
export async function* readArchive(
  path: string,
  { onRead, signal }: { onRead: (bytes: number) => void; signal: AbortSignal },
): AsyncGenerator<ArchiveEntry> {
  const source = createReadStream(path);
  const extract = startExtract();
  const fed = pipeline(source, createZstdDecompress(), extract, { signal });
  fed.catch(() => {});
  const damage = async (error: unknown) => {
    if (signal.aborted) return signal.reason;
    const { code, message } = await fed.then(
      () => error as NodeJS.ErrnoException,
      (cause: NodeJS.ErrnoException) => cause,
    );
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
      return new CommandFailure(`${path} cannot be read (${code}).`);
    if (code === 'ZSTD_error_prefix_unknown') return new CommandFailure(`${path} is no backup of Carillon.`);
    return new CommandFailure(`${path} is damaged or cut off (${message}): nothing was restored.`);
  };
  async function* bytesOf(entry: Readable) {
    try {
      yield* entry;
    } catch (error) {
      throw await damage(error);
    }
  }
  const entries = extract[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value: entry } = await entries.next().catch(async (error) => {
        throw await damage(error);
      });
      if (!entry) break;
      onRead(source.bytesRead);
      const name = readName(entry.header.name);
      if (!name) throw new CommandFailure(`${path} is no backup of Carillon.`);
      yield { name, size: entry.header.size ?? 0, bytes: bytesOf(entry) };
      entry.resume();
    }
    await fed.catch(async (error) => {
      throw await damage(error);
    });
  } finally {
    extract.destroy();
  }
}
