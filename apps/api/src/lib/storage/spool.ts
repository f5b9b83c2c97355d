import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

const CHUNK_BYTES = 64 * 1024;

export interface Spooled extends AsyncDisposable {
  size: number;
  md5: string;
  read(): Readable;
}

/** The file has no name, so it disappears with the process. */
export async function spool(folder: string, bytes: Readable): Promise<Spooled> {
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    const hash = createHash('md5');
    let size = 0;
    await writeFile(file, measured());
    async function* measured() {
      for await (const chunk of bytes) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    }
    return {
      size,
      md5: hash.digest('base64'),
      read: () => Readable.from(readChunks(file, size)),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** A file stream would close the file, whose bytes may be read again. */
async function* readChunks(file: FileHandle, size: number) {
  for (let position = 0; position < size; ) {
    const length = Math.min(CHUNK_BYTES, size - position);
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(length), position });
    if (bytesRead === 0) throw new Error('A spooled file is shorter than its content.');
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
