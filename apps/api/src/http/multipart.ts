import type { IncomingMessage } from 'node:http';
import multipart, { type Multipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, invalidField } from '../errors.ts';
import { LARGE_BODY_LIMIT } from './server.ts';

/** What a form has around its file: boundaries and the headers of the part. */
const AROUND = 64 * 1024;

/** A file as a form brings it. */
export interface FormFile {
  /** As the client says it, possibly with a path. */
  name: string;
  type: string;
  /** Refuses the request where the form turns out not to be whole, or to hold more than this file. */
  bytes: AsyncIterable<Buffer>;
}

/** Takes multipart forms and nothing else, in a plugin whose routes ask for the file with `openFile`. */
export async function readForms(app: FastifyInstance, mostBytes: number): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(multipart, {
    // What is one byte too long shall be seen to be.
    limits: { fileSize: mostBytes + 1, files: 2, fields: 1, parts: 2, fieldSize: 1024, headerPairs: 20 },
    throwFileSizeLimit: false,
    preservePath: true,
  });
}

/**
 * Reads a form until its file begins, which has to be its only part, named `field`; anything else is refused as that
 * field (400). The rest of it is read as the bytes are.
 */
export async function openFile(request: FastifyRequest, field: string, mostBytes: number): Promise<FormFile> {
  if (!request.isMultipart()) throw invalidField(field, 'is required');
  const most = mostBytes + AROUND;
  const tooLarge = invalidField(field, `must have at most ${mostBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge;
  const parts = request.parts();
  const overflow = watchLength(request.raw, most, tooLarge);
  const nextPart = () => orMalformed(field, () => Promise.race([parts.next(), overflow]));

  const { value: part, done } = await nextPart();
  if (done) throw invalidField(field, 'is required');
  if (part.fieldname !== field) throw unknownPart(part, field);
  if (part.type !== 'file') throw invalidField(field, 'must be a file with a name');
  const { filename, mimetype, file } = part;

  async function* readAlone(): AsyncGenerator<Buffer, void, undefined> {
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
  return { name: unescapeName(filename), type: mimetype, bytes: readAlone() };
}

/** What is no form throws errors of many kinds in the parser; all of them are the client's. */
async function orMalformed<T>(field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof AppError ? error : invalidField(field, 'must be sent as a whole multipart form');
  }
}

/** Rejects once more than `most` bytes have come: the parser bounds the parts of a form, and nothing around them. */
function watchLength(raw: IncomingMessage, most: number, tooLarge: AppError): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  let length = 0;
  raw.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > most) reject(tooLarge);
  });
  promise.catch(() => {});
  return promise;
}

const unknownPart = ({ fieldname }: Multipart, field: string) =>
  fieldname
    ? invalidField(fieldname.slice(0, 200).toWellFormed(), 'is not a known field')
    : invalidField(field, 'is required');

/** How browsers write what would end the name (WHATWG HTML, "multipart/form-data encoding algorithm"). */
const unescapeName = (name: string) => name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');

/**
 * To be called before an answer is sent: reads what is left of a body, so that a client that goes on sending gets its
 * answer and may use the connection again. Of an endless one it reads as much as of the largest body there may be; then
 * the connection is closed with the answer.
 */
export async function drainBody({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (raw.complete || raw.readableEnded || raw.destroyed) return;
  const announced = Number(raw.headers['content-length'] ?? 0);
  if (announced > LARGE_BODY_LIMIT || !(await drain(raw))) reply.header('connection', 'close');
}

/** Whether a body ends before it is too long. */
function drain(raw: IncomingMessage): Promise<boolean> {
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
