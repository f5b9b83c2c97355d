import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type { Texts } from '@carillon/texts';
import { type Pack, pack as startPack } from 'tar-stream';
import { CommandFailure } from '../command.ts';
import { syncFolder } from './staged-files.ts';

export interface ArchiveWriter {
  add(name: string, bytes: Buffer): Promise<void>;
  /** `size` is the number of bytes that follow. */
  addStream(name: string, size: number, bytes: AsyncIterable<Buffer>): Promise<void>;
}

const COMPRESSION = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
};

/**
 * Writes what `fill` adds to a tar file compressed with Zstandard, readable by its owner only. It appears under its name when
 * it is complete and synced; a failure leaves nothing behind.
 */
export async function writeArchive(
  path: string,
  fill: (archive: ArchiveWriter) => Promise<void>,
  { signal, texts }: { signal: AbortSignal; texts: Texts },
) {
  const draft = `${path}.${process.pid}.part`;
  const file = await open(draft, 'wx', 0o600).catch(({ code }) => {
    throw new CommandFailure(texts.commands.unwritable(path, code));
  });
  const pack = startPack();
  const written = pipeline(pack, createZstdCompress(COMPRESSION), file.createWriteStream({ flush: true }), { signal });
  // Awaited below; avoids an unhandled rejection until then.
  written.catch(() => {});
  try {
    await fill(createWriter(pack, written));
    pack.finalize();
    await written;
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (error) {
    pack.destroy();
    await written.catch(() => {});
    await rm(draft, { force: true });
    throw signal.aborted ? signal.reason : error;
  }
}

function createWriter(pack: Pack, written: Promise<void>): ArchiveWriter {
  async function addStream(name: string, size: number, bytes: AsyncIterable<Buffer> | Iterable<Buffer>) {
    try {
      const ended = Promise.withResolvers<void>();
      const entry = pack.entry({ name, size, mode: 0o600 }, (error) => (error ? ended.reject(error) : ended.resolve()));
      // The callback receives the same error.
      entry.on('error', () => {});
      ended.promise.catch(() => {});
      for await (const chunk of bytes) {
        if (entry.write(chunk)) continue;
        await Promise.race([new Promise<void>((resolve) => entry.once('drain', resolve)), ended.promise]);
      }
      entry.end(null);
      await ended.promise;
    } catch (error) {
      // A full disk destroys the entry without a reason; `written` rejects with it.
      if (pack.destroyed) await written;
      throw error;
    }
  }
  return { addStream, add: (name, bytes) => addStream(name, bytes.length, [bytes]) };
}
