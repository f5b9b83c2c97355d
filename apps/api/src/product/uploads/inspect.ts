import { fileTypeFromBuffer } from 'file-type';
import { invalidField } from '../../errors.ts';
import type { FileFormat } from './file-formats.ts';

export const MAX_FILE_BYTES = 10 * 1024 * 1024;

const SIGNATURE_BYTES = 4100;

/**
 * Passes on the bytes of a file that is not clearly of another format; it may be cut off or malformed. Counts them in
 * `counted`. Throws 400 on `file`, possibly only at the end.
 */
export async function* inspect(
  bytes: AsyncIterable<Buffer>,
  format: FileFormat,
  counted: { size: number },
): AsyncGenerator<Buffer, void, undefined> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of bytes) {
    counted.size += chunk.length;
    if (counted.size > MAX_FILE_BYTES) throw invalidField('file', `must have at most ${MAX_FILE_BYTES} bytes`);
    if (format.isText && chunk.includes(0)) throw invalidField('file', 'must not contain the NUL character');
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < SIGNATURE_BYTES) continue;
    await assertFormat(head, format);
    yield head;
    head = null;
  }
  if (counted.size === 0) throw invalidField('file', 'must not be empty');
  if (head === null) return;
  await assertFormat(head, format);
  yield head;
}

/** Recognised in text, and where a file is too short for `file-type`. */
const SIGNATURES: readonly [bytes: string, mime: string][] = [
  ['%PDF-', 'application/pdf'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\x89PNG', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['PK\x03\x04', 'application/zip'],
  ['\x7fELF', 'application/x-elf'],
];
const MARKUP_OR_SCRIPT = /^(?:<|#!)/;

async function assertFormat(head: Buffer, { mime, isText, extensions }: FileFormat): Promise<void> {
  const start = head.toString('latin1', 0, 8);
  let found = SIGNATURES.find(([bytes]) => start.startsWith(bytes))?.[1];
  if (!isText) {
    // `trimStart` removes a byte order mark too.
    if (MARKUP_OR_SCRIPT.test(head.toString().trimStart())) found = 'text/html';
    // It throws on some truncated input.
    found ??= (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  }
  if (found !== undefined && found !== mime) throw invalidField('file', `does not contain a .${extensions[0]} file`);
}
