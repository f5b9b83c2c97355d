import type { BackupTable } from '@carillon/db/backup/tables';
import type { Migration } from '@carillon/db/journal';

/** A reader refuses what has another number. */
export const FORMAT = 1;

export const HEADER = 'backup.json';
export const MANIFEST = 'manifest.json';

/** The first entry of an archive: what a reader has to know before it takes the rest. */
export interface Header {
  format: number;
  /** The version of Carillon that wrote it. */
  version: string;
  createdAt: string;
  migration: Migration;
  tables: Pick<BackupTable, 'name' | 'columns'>[];
  /** The keys that secrets may be sealed under; their bytes cannot be told from a fingerprint. */
  keys: { id: string; fingerprint: string }[];
  storage: { driver: string; url: string | null };
}

/** What was written of something, in bytes; for a table with its rows. */
export interface Written {
  bytes: number;
  /** In hexadecimal digits. */
  sha256: string;
}

/** The last entry: an archive without it is not whole. */
export interface Manifest {
  header: Written;
  tables: Record<string, Written & { rows: number }>;
  sequences: Record<string, string>;
  /** The files one after the other, each behind its name. `missing` were deleted while the backup was taken. */
  files: Written & { count: number; missing: number };
}

/** A table comes in pieces, whose lengths a tar has to know before they come. */
export const pieceName = (table: string, number: number): string =>
  `tables/${table}/${String(number).padStart(8, '0')}`;
export const fileName = (key: string): string => `files/${key}`;

export type EntryName = { kind: 'header' | 'manifest' } | { kind: 'table' | 'file'; name: string };

/** What an entry is by its name; null for a name that no backup has. */
export function readName(name: string): EntryName | null {
  if (name === HEADER) return { kind: 'header' };
  if (name === MANIFEST) return { kind: 'manifest' };
  const [, table, file] =
    /^(?:tables\/([a-z_0-9]+)\/\d{8}|files\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,254}))$/.exec(name) ?? [];
  if (table) return { kind: 'table', name: table };
  return file ? { kind: 'file', name: file } : null;
}
