import type { FastifyRequest } from 'fastify';

/** A file of a form. */
export interface SentFile {
  name: string;
  type: string;
  /** Null if it is too long, alone or together with the files before it. */
  bytes: Buffer | null;
}

/** Of a form. */
export const MAX_FIELD_BYTES = 1024 * 1024;

/** The field of a file that another page has kept. */
const KEPT_FILE = 'kept-file';
/** As text they are a third longer, and a field. */
const MAX_KEPT_BYTES = (MAX_FIELD_BYTES * 5) / 8;

const filesOf = new WeakMap<FastifyRequest, readonly SentFile[]>();

export const setFiles = (request: FastifyRequest, files: readonly SentFile[]) => filesOf.set(request, files);

/** The files of a submitted form. Empty file fields are left out. */
export const readFiles = (request: FastifyRequest): readonly SentFile[] => filesOf.get(request) ?? [];

/** The files of a form as fields of another one. Long ones are left out. */
export function keepFiles(request: FastifyRequest): { fields: { name: string; value: string }[]; left: string[] } {
  let room = MAX_KEPT_BYTES;
  const left: string[] = [];
  const fields = readFiles(request).flatMap(({ name, type, bytes }) => {
    if (bytes === null || bytes.length > room) {
      left.push(name);
      return [];
    }
    room -= bytes.length;
    return [{ name: KEPT_FILE, value: JSON.stringify({ name, type, content: bytes.toString('base64') }) }];
  });
  return { fields, left };
}

/** Takes the files out of the fields. */
export function takeKeptFiles(fields: Map<string, string[]>): SentFile[] {
  const texts = fields.get(KEPT_FILE) ?? [];
  fields.delete(KEPT_FILE);
  return texts.map(readKeptFile).filter((file) => file !== null);
}

/** Null for a text that this application has not written. */
function readKeptFile(text: string): SentFile | null {
  try {
    const { name, type, content } = JSON.parse(text);
    if ([name, type, content].some((part) => typeof part !== 'string')) return null;
    return { name, type, bytes: Buffer.from(content, 'base64') };
  } catch {
    return null;
  }
}
