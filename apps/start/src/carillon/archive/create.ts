import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@carillon/api/context';
import { type Config, VERSION } from '@carillon/api/lib/config/config';
import type { Snapshot } from '@carillon/db/backup/snapshot';
import type { BackupTable } from '@carillon/db/backup/tables';
import type { Texts } from '@carillon/texts';
import { CommandFailure } from '../command.ts';
import type { ProgressBar } from '../progress-bar.ts';
import { buildDigest, startDigest } from './digest.ts';
import { FORMAT, HEADER, type Header, MANIFEST, type Manifest, toFileName, toPartName } from './format.ts';
import { buildFingerprints } from './key-fingerprints.ts';
import { type ArchiveWriter, writeArchive } from './write.ts';

/** Memory for a part of a table; a single row may be longer. */
const PART_BYTES = 1024 * 1024;
const NEW_LINE = 0x0a;

interface BackupOptions {
  config: Pick<Config, 'encryptionKeys' | 'storage'>;
  progress: ProgressBar;
  signal: AbortSignal;
  texts: Texts;
}

/** Writes a snapshot and its files to a new archive at `path`. */
export async function createBackup(path: string, snapshot: Snapshot, options: BackupOptions) {
  const { config, progress, signal, texts } = options;
  const header = buildHeader(snapshot, options);
  const manifest: Manifest = {
    header: buildDigest(encode(header)),
    tables: {},
    sequences: {},
    files: { count: 0, missing: 0, bytes: 0, sha256: '' },
  };
  const totalBytes = snapshot.tables.reduce((sum, { size }) => sum + size, 0);
  let doneBytes = 0;
  const fill = async (archive: ArchiveWriter) => {
    await archive.add(HEADER, encode(header));
    for (const table of snapshot.tables) {
      manifest.tables[table.name] = await addTable(archive, snapshot, table, (bytes) => {
        doneBytes += bytes;
        progress.show(doneBytes, totalBytes, table.name);
        signal.throwIfAborted();
      });
    }
    if (config.storage.driver === 'disk') {
      manifest.files = await addFiles(archive, snapshot, config.storage.folder, (count) => {
        progress.show(totalBytes, totalBytes, texts.commands.filesAdded(count));
        signal.throwIfAborted();
      });
    }
    manifest.sequences = await snapshot.sequences();
    await archive.add(MANIFEST, encode(manifest));
  };
  await writeArchive(path, fill, options);
  return { header, manifest };
}

const encode = (value: object) => Buffer.from(JSON.stringify(value, null, 2));

function buildHeader(
  { migration, tables, partitions }: Snapshot,
  { config: { encryptionKeys, storage }, texts }: BackupOptions,
): Header {
  if (migration.tag === '') {
    throw new CommandFailure(texts.commands.newerDatabase);
  }
  return {
    format: FORMAT,
    version: VERSION,
    createdAt: systemClock().toISOString(),
    migration: { tag: migration.tag, when: migration.when },
    tables: tables.map(({ name, columns }) => ({ name, columns })),
    partitions,
    keys: buildFingerprints(encryptionKeys),
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
  let rows = 0;
  let part = 0;
  let chunks: Buffer[] = [];
  let bytes = 0;
  const flush = async () => {
    if (bytes === 0) return;
    await archive.add(toPartName(table.name, part++), Buffer.concat(chunks));
    onBytes(bytes);
    chunks = [];
    bytes = 0;
  };
  for await (const chunk of snapshot.copy(table)) {
    digest.add(chunk);
    // COPY escapes line breaks within values, so each one ends a row.
    for (let at = chunk.indexOf(NEW_LINE); at !== -1; at = chunk.indexOf(NEW_LINE, at + 1)) rows += 1;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= PART_BYTES) await flush();
  }
  await flush();
  return { ...digest.build(), rows };
}

async function addFiles(
  archive: ArchiveWriter,
  snapshot: Snapshot,
  folder: string,
  onFile: (count: number) => void,
): Promise<Manifest['files']> {
  const digest = startDigest();
  let count = 0;
  let missing = 0;
  for await (const keys of snapshot.uploadKeys()) {
    for (const key of keys) {
      await using file = await openIfExists(join(folder, key));
      if (!file) {
        missing += 1;
        continue;
      }
      const { size } = await file.stat();
      digest.add(key);
      await archive.addStream(toFileName(key), size, readContent(file, size, digest.add));
      count += 1;
      onFile(count);
    }
  }
  return { ...digest.build(), count, missing };
}

async function openIfExists(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The size does not change: files of the storage are deleted, but never modified. */
async function* readContent(file: FileHandle, size: number, onChunk: (chunk: Buffer) => void) {
  if (size === 0) return;
  for await (const chunk of file.createReadStream({ autoClose: false, end: size - 1 })) {
    onChunk(chunk);
    yield chunk as Buffer;
  }
}
