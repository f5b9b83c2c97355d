import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Texts } from '@carillon/texts';
import { extract as startExtract } from 'tar-stream';
import { CommandFailure } from '../command.ts';
import { type EntryName, parseEntryName } from './format.ts';

export interface ArchiveEntry {
  name: EntryName;
  /** In bytes. */
  size: number;
  bytes: AsyncIterable<Buffer>;
}

/**
 * Yields the entries of an archive; the rest of one that was not read to its end is skipped. `onRead` gets the number of bytes
 * of the file read so far. Throws a `CommandFailure` if the file is not a backup, damaged or truncated.
 */
export async function* readArchive(
  path: string,
  { onRead, signal, texts: { commands } }: { onRead: (bytes: number) => void; signal: AbortSignal; texts: Texts },
): AsyncGenerator<ArchiveEntry> {
  const source = createReadStream(path);
  const extract = startExtract();
  const piped = pipeline(source, createZstdDecompress(), extract, { signal });
  piped.catch(() => {});
  const explain = async (error: unknown) => {
    if (signal.aborted) return signal.reason;
    const { code, message } = await piped.then(
      () => error as NodeJS.ErrnoException,
      (cause: NodeJS.ErrnoException) => cause,
    );
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
      return new CommandFailure(commands.unreadable(path, code));
    if (code === 'ZSTD_error_prefix_unknown') return new CommandFailure(commands.notBackup(path));
    return new CommandFailure(commands.truncated(path, message));
  };
  async function* readEntry(entry: Readable) {
    try {
      yield* entry;
    } catch (error) {
      throw await explain(error);
    }
  }
  const entries = extract[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value: entry } = await entries.next().catch(async (error) => {
        throw await explain(error);
      });
      if (!entry) break;
      onRead(source.bytesRead);
      const name = parseEntryName(entry.header.name);
      if (!name) throw new CommandFailure(commands.notBackup(path));
      yield { name, size: entry.header.size ?? 0, bytes: readEntry(entry) };
      entry.resume();
    }
    await piped.catch(async (error) => {
      throw await explain(error);
    });
  } finally {
    extract.destroy();
  }
}
