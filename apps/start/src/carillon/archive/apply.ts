import { buffer } from 'node:stream/consumers';
import type { Target } from '@carillon/db/backup/restore';
import { CommandFailure } from '../command.ts';
import { type Digest, digestOf, startDigest } from './digest.ts';
import type { IncomingFiles } from './files.ts';
import { FORMAT, type Header, type Manifest, type Written } from './format.ts';
import type { ArchiveEntry } from './read.ts';

/** Header and manifest are small; what is larger is none. */
const LARGEST_TEXT = 16 * 1024 * 1024;

interface Destination {
  target: Target;
  /** Null where the service keeps no files on disk. */
  files: IncomingFiles | null;
  /** Called once it is known what comes; may refuse it. */
  onHeader(header: Header): Promise<void>;
}

/**
 * Puts what an archive holds where it belongs, as it comes, and compares it with what the archive says of itself at its
 * end. Throws a `CommandFailure` where they differ: nothing of it may be kept then.
 */
export async function applyArchive(
  path: string,
  entries: AsyncGenerator<ArchiveEntry>,
  { target, files, onHeader }: Destination,
): Promise<Manifest> {
  const damaged = (what: string) => new CommandFailure(`${path} is damaged (${what}): nothing was restored.`);
  let entry = await next(entries);
  if (entry?.name.kind !== 'header') throw new CommandFailure(`${path} is no backup of Carillon.`);
  const headerBytes = await textOf(entry, damaged);
  const header = parse<Header>(headerBytes, damaged);
  if (header.format !== FORMAT) {
    throw new CommandFailure(
      `${path} has the format ${header.format}, this version reads ${FORMAT}: use another version.`,
    );
  }
  await onHeader(header);
  await target.createTables(header.migration);

  const tables: Manifest['tables'] = {};
  const digestOfFiles = startDigest();
  let count = 0;
  entry = await next(entries);
  for (; entry && entry.name.kind !== 'manifest'; ) {
    if (entry.name.kind === 'table') {
      const { name } = entry.name;
      const table = header.tables.find((one) => one.name === name);
      if (!table || tables[name]) throw damaged(`the table ${name} is out of place`);
      const digest = startDigest();
      const pieces = { next: entry as ArchiveEntry | null };
      const rows = await target.fill(table, piecesOf(name, pieces, entries, digest));
      tables[name] = { ...digest.result(), rows };
      entry = pieces.next;
    } else if (entry.name.kind === 'file' && files) {
      digestOfFiles.add(entry.name.name);
      await files.add(entry.name.name, counted(entry.bytes, digestOfFiles));
      count += 1;
      entry = await next(entries);
    } else throw damaged('something is out of place');
  }
  if (!entry) throw damaged('its end is missing');
  const manifest = parse<Manifest>(await textOf(entry, damaged), damaged);
  if ((await next(entries)) !== null) throw damaged('something follows its end');

  for (const { name } of header.tables) {
    const due = manifest.tables[name];
    const found = tables[name] ?? { rows: 0, ...startDigest().result() };
    if (!due || found.rows !== due.rows || !isSame(found, due))
      throw damaged(`the table ${name} is not what was written`);
  }
  if (!isSame(digestOf(headerBytes), manifest.header)) throw damaged('its beginning is not what was written');
  if (files && (count !== manifest.files.count || (count > 0 && !isSame(digestOfFiles.result(), manifest.files)))) {
    throw damaged('the files are not what was written');
  }
  return manifest;
}

const isSame = (a: Written, b: Written) => a.bytes === b.bytes && a.sha256 === b.sha256;

async function next(entries: AsyncGenerator<ArchiveEntry>): Promise<ArchiveEntry | null> {
  const { value } = await entries.next();
  return value ?? null;
}

/** The bytes of all entries of a table; `at.next` is what follows them. */
async function* piecesOf(
  table: string,
  at: { next: ArchiveEntry | null },
  entries: AsyncGenerator<ArchiveEntry>,
  digest: Digest,
): AsyncGenerator<Buffer> {
  while (at.next?.name.kind === 'table' && at.next.name.name === table) {
    yield* counted(at.next.bytes, digest);
    at.next = await next(entries);
  }
}

async function* counted(bytes: AsyncIterable<Buffer>, digest: Digest): AsyncGenerator<Buffer> {
  for await (const piece of bytes) {
    digest.add(piece);
    yield piece;
  }
}

async function textOf({ size, bytes }: ArchiveEntry, damaged: (what: string) => CommandFailure): Promise<Buffer> {
  if (size > LARGEST_TEXT) throw damaged('a part is too long');
  return buffer(bytes);
}

function parse<T>(bytes: Buffer, damaged: (what: string) => CommandFailure): T {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw damaged('a part cannot be read');
  }
}
