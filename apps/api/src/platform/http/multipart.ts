import type { IncomingMessage } from 'node:http';
import multipart, { type Multipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, invalidField } from '../../errors.ts';
import { LARGE_BODY_LIMIT } from './server.ts';

const MAX_FORM_OVERHEAD_BYTES = 64 * 1024;

interface FormFile {
  /** As sent, possibly with a path. */
  name: string;
  type: string;
  /** Throws 400 if the form is incomplete or has another part. */
  bytes: AsyncIterable<Buffer>;
}

export async function registerFormParser(app: FastifyInstance, maxBytes: number): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(multipart, {
    // One byte more, to recognise a file that is too long.
    limits: { fileSize: maxBytes + 1, files: 2, fields: 1, parts: 2, fieldSize: 1024, headerPairs: 20 },
    throwFileSizeLimit: false,
    preservePath: true,
  });
}

/** Reads a form up to its only part, the file `field`. Throws a validation error for anything else. */
export async function openFile(request: FastifyRequest, field: string, maxBytes: number): Promise<FormFile> {
  if (!request.isMultipart()) throw invalidField(field, 'is required');
  const maxLength = maxBytes + MAX_FORM_OVERHEAD_BYTES;
  const tooLarge = invalidField(field, `must have at most ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxLength) throw tooLarge;
  const parts = request.parts();
  const overflow = watchLength(request.raw, maxLength, tooLarge);
  const nextPart = () => orMalformed(field, () => Promise.race([parts.next(), overflow]));

  const { value: part, done } = await nextPart();
  if (done) throw invalidField(field, 'is required');
  if (part.fieldname !== field) throw unknownPart(part, field);
  if (part.type !== 'file') throw invalidField(field, 'must be a file with a name');
  const { filename, mimetype, file } = part;

  async function* readOnlyPart(): AsyncGenerator<Buffer, void, undefined> {
    const chunks = file[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { value, done } = await orMalformed(field, () => chunks.next());
        if (done) break;
        yield value;
      }
    } finally {
      file.destroy();
    }
    const { value: extra, done } = await nextPart();
    if (done) return;
    throw extra.fieldname === field ? invalidField(field, 'must be one file only') : unknownPart(extra, field);
  }
  return { name: unescapeName(filename), type: mimetype, bytes: readOnlyPart() };
}

async function orMalformed<T>(field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof AppError ? error : invalidField(field, 'must be sent as a whole multipart form');
  }
}

/** Rejects beyond `maxLength` bytes, because the parser bounds the parts only. */
function watchLength(raw: IncomingMessage, maxLength: number, tooLarge: AppError): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  let length = 0;
  raw.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxLength) reject(tooLarge);
  });
  promise.catch(() => {});
  return promise;
}

const unknownPart = ({ fieldname }: Multipart, field: string) =>
  fieldname
    ? invalidField(fieldname.slice(0, 200).toWellFormed(), 'is not a known field')
    : invalidField(field, 'is required');

/** Browsers escape these characters (WHATWG HTML, "multipart/form-data encoding algorithm"). */
const unescapeName = (name: string) => name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');

/** Reads the rest of a body, so that a client that is still sending gets its answer; closes if it is too long. */
export async function drainBody({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (raw.complete || raw.readableEnded || raw.destroyed) return;
  const announced = Number(raw.headers['content-length'] ?? 0);
  if (announced > LARGE_BODY_LIMIT || !(await drainWithinLimit(raw))) reply.header('connection', 'close');
}

function drainWithinLimit(raw: IncomingMessage): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let length = 0;
  raw.unpipe();
  raw.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > LARGE_BODY_LIMIT) resolve(false);
  });
  raw.once('end', () => resolve(true));
  raw.once('close', () => resolve(false));
  raw.resume();
  return promise;
}
