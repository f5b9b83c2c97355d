import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, VERSION } from '@carillon/api/config/config';
import { systemClock } from '@carillon/api/context';
import type { Snapshot } from '@carillon/db/backup/snapshot';
import type { BackupTable } from '@carillon/db/backup/tables';
import { CommandFailure } from '../command.ts';
import type { Progress } from '../progress.ts';
import { digestOf, startDigest } from './digest.ts';
import { FORMAT, fileName, HEADER, type Header, MANIFEST, type Manifest, pieceName } from './format.ts';
import { fingerprints } from './keys.ts';
import { type ArchiveWriter, writeArchive } from './write.ts';

/** What of a table is in memory at once, in bytes; a single row may be longer. */
const PIECE = 1024 * 1024;
const NEW_LINE = 0x0a;

interface Means {
  config: Pick<Config, 'encryptionKeys' | 'storage'>;
  progress: Progress;
  signal: AbortSignal;
}

/** Writes a snapshot and the files that it names to an archive at `path`, which is not there yet. */
export async function takeBackup(path: string, snapshot: Snapshot, { config, progress, signal }: Means) {
  const header = headerOf(snapshot, config);
  const manifest: Manifest = {
    header: digestOf(encode(header)),
    tables: {},
    sequences: {},
    files: { count: 0, missing: 0, bytes: 0, sha256: '' },
  };
  const whole = snapshot.tables.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  const fill = async (archive: ArchiveWriter) => {
    await archive.add(HEADER, encode(header));
    for (const table of snapshot.tables) {
      const onBytes = (bytes: number) => {
        done += bytes;
        progress.show(done, whole, table.name);
        signal.throwIfAborted();
      };
      manifest.tables[table.name] = await addTable(archive, snapshot, table, onBytes);
    }
    if (config.storage.driver === 'disk') {
      const onFile = (count: number) => {
        progress.show(whole, whole, `${count} files`);
        signal.throwIfAborted();
      };
      manifest.files = await addFiles(archive, snapshot, config.storage.folder, onFile);
    }
    manifest.sequences = await snapshot.sequences();
    await archive.add(MANIFEST, encode(manifest));
  };
  await writeArchive(path, fill, signal);
  return { header, manifest };
}

const encode = (value: object) => Buffer.from(JSON.stringify(value, null, 2));

function headerOf({ migration, tables }: Snapshot, { encryptionKeys, storage }: Means['config']): Header {
  if (migration.tag === '') {
    throw new CommandFailure('The database is of a newer Carillon than this one: back it up with that version.');
  }
  return {
    format: FORMAT,
    version: VERSION,
    createdAt: systemClock().toISOString(),
    migration: { tag: migration.tag, when: migration.when },
    tables: tables.map(({ name, columns }) => ({ name, columns })),
    keys: fingerprints(encryptionKeys),
    storage: { driver: storage.driver, url: storage.driver === 'base64' ? null : storage.url },
  };
}

async function addTable(
  archive: ArchiveWriter,
  snapshot: Snapshot,
  table: BackupTable,
  onBytes: (bytes: number) => void,
): Promise<Manifest['tables'][string]> {
  const digest = startDigest();
  let [rows, number, held] = [0, 0, 0];
  let pieces: Buffer[] = [];
  const flush = async () => {
    if (held === 0) return;
    await archive.add(pieceName(table.name, number++), Buffer.concat(pieces));
    onBytes(held);
    pieces = [];
    held = 0;
  };
  for await (const piece of snapshot.copy(table)) {
    digest.add(piece);
    // A line break within a value is written as an escape.
    for (let at = piece.indexOf(NEW_LINE); at !== -1; at = piece.indexOf(NEW_LINE, at + 1)) rows += 1;
    pieces.push(piece);
    held += piece.length;
    if (held >= PIECE) await flush();
  }
  await flush();
  return { ...digest.result(), rows };
}

async function addFiles(
  archive: ArchiveWriter,
  snapshot: Snapshot,
  folder: string,
  onFile: (count: number) => void,
): Promise<Manifest['files']> {
  const digest = startDigest();
  let [count, missing] = [0, 0];
  for await (const keys of snapshot.uploadKeys()) {
    for (const key of keys) {
      await using file = await openFile(join(folder, key));
      if (!file) {
        missing += 1;
        continue;
      }
      const { size } = await file.stat();
      digest.add(key);
      await archive.addStream(fileName(key), size, passing(file, size, digest.add));
      count += 1;
      onFile(count);
    }
  }
  return { ...digest.result(), count, missing };
}

async function openFile(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** As much as there was when it was opened: a file of the storage never changes, it only goes. */
async function* passing(file: FileHandle, size: number, onPiece: (piece: Buffer) => void) {
  if (size === 0) return;
  for await (const piece of file.createReadStream({ autoClose: false, end: size - 1 })) {
    onPiece(piece);
    yield piece as Buffer;
  }
}
