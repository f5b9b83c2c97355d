import { fileTypeFromBuffer } from 'file-type';
import { invalidField } from '../errors.ts';
import { type Inspection, inspectImage, inspectJson, inspectPdf, inspectText } from './inspections.ts';
import type { Kind } from './kinds.ts';

/** Specification "Input limits". */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** What the signatures of all types need. */
const HEAD = 4100;

/**
 * Hands on the bytes of a file that is to be of `kind`, a piece at a time, and adds them up in `counted`. Refused as
 * `file` (400) as soon as it shows: none, more than 10 MiB, content of another type or that cannot be read. The last
 * bytes may be wrong as well: what was handed on counts only once the end is reached.
 */
export async function* inspect(
  bytes: AsyncIterable<Buffer>,
  kind: Kind,
  counted: { size: number },
): AsyncGenerator<Buffer, void, undefined> {
  const inspection = newInspection(kind);
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of bytes) {
    counted.size += chunk.length;
    if (counted.size > MAX_FILE_BYTES) throw invalidField('file', `must have at most ${MAX_FILE_BYTES} bytes`);
    let next: Buffer = chunk;
    if (head !== null) {
      head = next = Buffer.concat([head, chunk]);
      if (head.length < HEAD) continue;
      await assertType(head, kind);
      head = null;
    }
    inspection.take(next);
    yield next;
  }
  if (counted.size === 0) throw invalidField('file', 'must not be empty');
  if (head !== null) {
    await assertType(head, kind);
    inspection.take(head);
    yield head;
  }
  inspection.end();
}

function newInspection({ content, type }: Kind): Inspection {
  if (content === 'image') return inspectImage(type);
  return { pdf: inspectPdf, text: () => inspectText(type), json: inspectJson }[content]();
}

/** By signatures, of which texts have none. */
async function assertType(head: Buffer, { type, content, extensions: [extension] }: Kind): Promise<void> {
  if (content === 'text' || content === 'json') return;
  // What it makes neither head nor tail of is of no type.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  // An animated PNG is a PNG.
  const mime = found?.mime === 'image/apng' ? 'image/png' : found?.mime;
  if (mime !== type) throw invalidField('file', `is no .${extension} file by its content`);
}
