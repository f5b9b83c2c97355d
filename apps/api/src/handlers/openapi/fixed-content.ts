import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { includesTag, parseEntityTags } from '../../platform/http/etag.ts';

/** Better ones take seconds for the largest script, and save a few percent. */
const BROTLI_QUALITY = 6;

const COMPRESS = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
};

type Encoding = keyof typeof COMPRESS;

interface Representation {
  bytes: Buffer;
  etag: string;
}

/**
 * A handler for content that is the same for every request. Each encoding is compressed once, when it is first needed.
 */
export function sendFixed(type: string, read: () => Buffer) {
  const representations = new Map<Encoding | null, Promise<Representation>>();

  async function represent(encoding: Encoding | null): Promise<Representation> {
    const bytes = encoding === null ? read() : await COMPRESS[encoding](read());
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const encoding = negotiate(request.headers['accept-encoding'] ?? '', ['br', 'gzip']) as Encoding | null;
    const found = representations.get(encoding) ?? represent(encoding);
    representations.set(encoding, found);
    const { bytes, etag } = await found;
    reply.headers({ etag, 'cache-control': 'no-cache', vary: 'Origin, Accept-Encoding' });
    const known = parseEntityTags(request.headers['if-none-match'] ?? '');
    if (known && includesTag(known, etag)) return reply.code(304).send();
    if (encoding) reply.header('content-encoding', encoding);
    return reply.type(type).send(bytes);
  };
}
