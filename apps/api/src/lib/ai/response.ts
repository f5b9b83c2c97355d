import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, unzip, zstdDecompress } from 'node:zlib';
import type { ProviderError } from './errors.ts';
import { createReplyReader, type ModelReply, type Protocol, type ReplyReader } from './reply.ts';

export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;

/** Reads the response of a provider as it arrives: a 2xx into the reply, any other as an error. */
export class ProviderResponse {
  readonly #protocol: Protocol;
  readonly #reply: ModelReply;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  /** Null if the body is not compressed. */
  #encoding: string | null = null;
  #reader: ReplyReader | null = null;
  #error: ProviderError | null = null;
  /** Of an error, or of a body that has to be complete before it can be expanded. */
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(protocol: Protocol, reply: ModelReply) {
    this.#protocol = protocol;
    this.#reply = reply;
  }

  start(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const encoding = headers['content-encoding']?.trim();
    this.#encoding = encoding && !/^identity$/i.test(encoding) ? encoding : null;
    if (status < 300) this.#reader = createReplyReader(this.#protocol, headers, this.#reply);
  }

  /** Returns true to read no further. */
  read(chunk: Buffer): boolean {
    if (this.#reader && this.#encoding === null) {
      this.#error = this.#reader.read(chunk);
      return this.#error !== null;
    }
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    return this.#reader === null && this.#bytes >= MAX_ERROR_BYTES;
  }

  /** An error status counts, even if its body breaks off. */
  get hasErrorStatus(): boolean {
    return this.#status >= 300;
  }

  async getHttpError(): Promise<ProviderError> {
    const body = await this.#joinChunks(MAX_ERROR_BYTES);
    return {
      kind: 'http',
      status: this.#status,
      headers: this.#headers,
      // The last character may be cut.
      body: Buffer.isBuffer(body) ? new TextDecoder().decode(body, { stream: true }) : '',
    };
  }

  /** Returns what is wrong with a 2xx response whose body is complete or was stopped, or null. */
  async end(): Promise<ProviderError | null> {
    if (this.#reader === null || this.#error !== null) return this.#error;
    if (this.#encoding !== null) {
      const body = await this.#joinChunks(MAX_ANSWER_BYTES);
      if (body === 'too_large') return { kind: 'too_large' };
      if (body === 'unreadable') return { kind: 'unreadable', body: '' };
      const error = this.#reader.read(body);
      if (error) return error;
    }
    return this.#reader.end();
  }

  async #joinChunks(maxBytes: number): Promise<Buffer | 'too_large' | 'unreadable'> {
    const body = Buffer.concat(this.#chunks);
    return this.#encoding === null ? body.subarray(0, maxBytes) : decompress(this.#encoding, body, maxBytes);
  }
}

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
