import { promisify } from 'node:util';
import { brotliDecompress, unzip, zstdDecompress } from 'node:zlib';

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS = new Map<string, Decoder>([
  ['gzip', promisify(unzip)],
  ['x-gzip', promisify(unzip)],
  ['deflate', promisify(unzip)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

/** Expands to at most `maxBytes`. Never rejects. */
export async function decompress(
  encoding: string,
  body: Buffer,
  maxBytes: number,
): Promise<Buffer | 'too_large' | 'unreadable'> {
  try {
    const decode = DECODERS.get(encoding.trim().toLowerCase());
    return decode ? await decode(body, { maxOutputLength: maxBytes }) : 'unreadable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'unreadable';
  }
}
