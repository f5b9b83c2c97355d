import { buffer } from 'node:stream/consumers';
import type { Target } from '@carillon/db/backup/restore';
import type { Texts } from '@carillon/texts';
import { CommandFailure } from '../command.ts';
import { buildDigest, type DigestBuilder, isSameDigest, startDigest } from './digest.ts';
import { FORMAT, type Header, type Manifest } from './format.ts';
import type { ArchiveEntry } from './read.ts';
import type { StagedFiles } from './staged-files.ts';

/** Of header and manifest. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;

interface Destination {
  target: Target;
  /** Null if the storage is not on disk. */
  files: StagedFiles | null;
  texts: Texts;
  /** Called before anything is restored; may throw. */
  onHeader(header: Header): Promise<void>;
}

type Damaged = (reason: keyof Texts['commands']['damages'], table?: string) => CommandFailure;

/**
 * Restores the entries of an archive as they come and compares the result with the manifest. Throws a `CommandFailure` if they
 * differ: the caller must then discard everything.
 */
export async function restoreArchive(
  path: string,
  entries: AsyncGenerator<ArchiveEntry>,
  { target, files, texts: { commands }, onHeader }: Destination,
): Promise<Manifest> {
  const damaged: Damaged = (reason, table = '') =>
    new CommandFailure(commands.damaged(path, commands.damages[reason](table)));
  let entry = await readNext(entries);
  if (entry?.name.kind !== 'header') throw new CommandFailure(commands.notBackup(path));
  const headerBytes = await readJsonBytes(entry, damaged);
  const header = parseJson<Header>(headerBytes, damaged);
  if (header.format !== FORMAT) {
    throw new CommandFailure(commands.otherFormat(path, header.format, FORMAT));
  }
  await onHeader(header);
  await target.createTables(header.migration, header.partitions ?? []);

  const tables: Manifest['tables'] = {};
  const filesDigest = startDigest();
  let fileCount = 0;
  entry = await readNext(entries);
  while (entry && entry.name.kind !== 'manifest') {
    if (entry.name.kind === 'table') {
      const { name } = entry.name;
      const table = header.tables.find((one) => one.name === name);
      if (!table || tables[name]) throw damaged('tableOrder', name);
      const digest = startDigest();
      const position = { next: entry as ArchiveEntry | null };
      const rows = await target.fill(table, readTable(name, position, entries, digest));
      tables[name] = { ...digest.build(), rows };
      entry = position.next;
    } else if (entry.name.kind === 'file' && files) {
      filesDigest.add(entry.name.name);
      await files.add(entry.name.name, withDigest(entry.bytes, filesDigest));
      fileCount += 1;
      entry = await readNext(entries);
    } else throw damaged('order');
  }
  if (!entry) throw damaged('end');
  const manifest = parseJson<Manifest>(await readJsonBytes(entry, damaged), damaged);
  if ((await readNext(entries)) !== null) throw damaged('rest');

  for (const { name } of header.tables) {
    const expected = manifest.tables[name];
    const restored = tables[name] ?? { rows: 0, ...startDigest().build() };
    if (!expected || restored.rows !== expected.rows || !isSameDigest(restored, expected)) {
      throw damaged('table', name);
    }
  }
  if (!isSameDigest(buildDigest(headerBytes), manifest.header)) throw damaged('header');
  if (files) {
    const isSameContent = fileCount === 0 || isSameDigest(filesDigest.build(), manifest.files);
    if (fileCount !== manifest.files.count || !isSameContent) throw damaged('files');
  }
  return manifest;
}

async function readNext(entries: AsyncGenerator<ArchiveEntry>): Promise<ArchiveEntry | null> {
  const { value } = await entries.next();
  return value ?? null;
}

/** The bytes of all parts of a table, starting at `position.next`, which is then the entry that follows them. */
async function* readTable(
  table: string,
  position: { next: ArchiveEntry | null },
  entries: AsyncGenerator<ArchiveEntry>,
  digest: DigestBuilder,
): AsyncGenerator<Buffer> {
  while (position.next?.name.kind === 'table' && position.next.name.name === table) {
    yield* withDigest(position.next.bytes, digest);
    position.next = await readNext(entries);
  }
}

async function* withDigest(bytes: AsyncIterable<Buffer>, digest: DigestBuilder): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    digest.add(chunk);
    yield chunk;
  }
}

async function readJsonBytes({ size, bytes }: ArchiveEntry, damaged: Damaged) {
  if (size > MAX_JSON_BYTES) throw damaged('size');
  return buffer(bytes);
}

function parseJson<T>(bytes: Buffer, damaged: Damaged): T {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw damaged('json');
  }
}
