import { fileTypeFromBuffer } from 'file-type';
import { invalidField } from '../errors.ts';
import { type ContentCheck, checkImage, checkJson, checkPdf, checkText } from './content-checks.ts';
import type { FileFormat } from './file-formats.ts';

export const MAX_FILE_BYTES = 10 * 1024 * 1024;

const SIGNATURE_BYTES = 4100;

/** Counts the bytes in `counted`. Throws 400 on `file`, possibly only at the end. */
export async function* inspect(
  bytes: AsyncIterable<Buffer>,
  format: FileFormat,
  counted: { size: number },
): AsyncGenerator<Buffer, void, undefined> {
  const check = createContentCheck(format);
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of bytes) {
    counted.size += chunk.length;
    if (counted.size > MAX_FILE_BYTES) throw invalidField('file', `must have at most ${MAX_FILE_BYTES} bytes`);
    let next: Buffer = chunk;
    if (head !== null) {
      head = next = Buffer.concat([head, chunk]);
      if (head.length < SIGNATURE_BYTES) continue;
      await assertSignature(head, format);
      head = null;
    }
    check.add(next);
    yield next;
  }
  if (counted.size === 0) throw invalidField('file', 'must not be empty');
  if (head !== null) {
    await assertSignature(head, format);
    check.add(head);
    yield head;
  }
  check.end();
}

function createContentCheck({ content, mime }: FileFormat): ContentCheck {
  if (content === 'image') return checkImage(mime);
  return { pdf: checkPdf, text: () => checkText(mime), json: checkJson }[content]();
}

async function assertSignature(head: Buffer, { mime, content, extensions: [extension] }: FileFormat): Promise<void> {
  if (content === 'text' || content === 'json') return;
  // file-type throws on truncated input.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  const foundMime = found?.mime === 'image/apng' ? 'image/png' : found?.mime;
  if (foundMime !== mime) throw invalidField('file', `does not contain a .${extension} file`);
}
