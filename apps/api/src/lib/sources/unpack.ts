import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';
import { MAX_BYTES } from './fetch.ts';

type Decode = (packed: Buffer, options: ZlibOptions) => Promise<Buffer>;

const decodeGzip: Decode = promisify(gunzip);
const decodeZlib: Decode = promisify(inflate);
const decodeRaw: Decode = promisify(inflateRaw);
const DECODERS: Record<string, Decode> = {
  gzip: decodeGzip,
  'x-gzip': decodeGzip,
  br: promisify(brotliDecompress),
  // Some servers send deflate without the header of zlib, and browsers take it.
  deflate: (packed, options) => ((packed[0] ?? 0) % 16 === 8 ? decodeZlib : decodeRaw)(packed, options),
};

/** Throws for another encoding, for several, for broken data, and for more than 2 MiB (`ERR_BUFFER_TOO_LARGE`). */
export async function unpack(body: Buffer, encoding = 'identity'): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (body.length === 0 || name === 'identity' || name === '') return body;
  const decode = DECODERS[name];
  if (!decode) throw new Error('unknown encoding');
  return decode(body, { maxOutputLength: MAX_BYTES });
}
