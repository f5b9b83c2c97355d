import type { BackupPartition } from '@carillon/db/backup/partitions';
import type { BackupTable } from '@carillon/db/backup/tables';
import type { Migration } from '@carillon/db/journal';
import type { Digest } from './digest.ts';

/** Archives with another number are rejected. */
export const FORMAT = 1;

export const HEADER = 'backup.json';
export const MANIFEST = 'manifest.json';

/** The first entry of an archive. */
export interface Header {
  format: number;
  /** The version of Carillon that wrote it. */
  version: string;
  createdAt: string;
  migration: Migration;
  tables: Pick<BackupTable, 'name' | 'columns'>[];
  /** Missing in archives of versions without partitions. */
  partitions?: BackupPartition[];
  /** The encryption keys, without revealing them. */
  keys: { id: string; fingerprint: string }[];
  storage: { driver: string; url: string | null };
}

/** The last entry: an archive without it is incomplete. */
export interface Manifest {
  header: Digest;
  tables: Record<string, Digest & { rows: number }>;
  sequences: Record<string, string>;
  /** The digest covers each key followed by its content. `missing` files were deleted during the backup. */
  files: Digest & { count: number; missing: number };
}

/** A table is written in parts, because a tar entry starts with its length. */
export const toPartName = (table: string, number: number): string =>
  `tables/${table}/${String(number).padStart(8, '0')}`;
export const toFileName = (key: string): string => `files/${key}`;

export type EntryName = { kind: 'header' | 'manifest' } | { kind: 'table' | 'file'; name: string };

/** Returns null for a name that no backup contains. */
export function parseEntryName(name: string): EntryName | null {
  if (name === HEADER) return { kind: 'header' };
  if (name === MANIFEST) return { kind: 'manifest' };
  const [, table, file] =
    /^(?:tables\/([a-z_0-9]+)\/\d{8}|files\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,254}))$/.exec(name) ?? [];
  if (table) return { kind: 'table', name: table };
  return file ? { kind: 'file', name: file } : null;
}
