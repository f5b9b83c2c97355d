import { type Db, queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { EncryptionKey } from '../config/secrets.ts';
import { toBlindIndex } from '../webhooks/secret.ts';
import { columnAad, ENCRYPTED_COLUMNS, type EncryptedColumn } from './encrypted-columns.ts';
import { ciphertextPrefix, decrypt, encrypt } from './encryption.ts';

const BATCH = 500;

export interface Rotation {
  column: EncryptedColumn;
  /** Values that are sealed under the first key now and were not before. */
  resealed: number;
  /** Values that were changed, or went, while they were sealed anew: by the service, under the key that it writes with. */
  overtaken: number;
  /** Why the others do not open; never what is in them. */
  failures: string[];
}

/**
 * Seals every secret of the database anew that is not sealed under the first of `keys` (issue "Secrets at rest"), column
 * by column, and tells what it did of each. A few hundred at a time, and only where a value is still what it was, so the
 * service may go on meanwhile; what is done is passed over the next time, so it may be broken off.
 */
export async function* rotateKeys(db: Db, keys: readonly EncryptionKey[]): AsyncGenerator<Rotation> {
  for (const column of Object.keys(ENCRYPTED_COLUMNS) as EncryptedColumn[]) yield await rotateColumn(db, keys, column);
}

async function rotateColumn(db: Db, keys: readonly EncryptionKey[], column: EncryptedColumn): Promise<Rotation> {
  const rotation: Rotation = { column, resealed: 0, overtaken: 0, failures: [] };
  const [writer] = keys;
  if (!writer) throw new Error('There is no key to seal with.');
  for (let last: string | null = null; ; ) {
    const batch = await findBatch(db, column, writer, last);
    last = batch.at(-1)?.id ?? null;
    if (last === null) return rotation;
    const fresh = batch.flatMap(({ id, sealed }) => {
      try {
        const secret = decrypt(keys, sealed, columnAad(column, id));
        return {
          id,
          sealed,
          fresh: encrypt(keys, secret, columnAad(column, id)),
          lookup: toBlindIndex(writer, secret),
        };
      } catch (error) {
        rotation.failures.push((error as Error).message);
        return [];
      }
    });
    const written = await writeBatch(db, column, fresh);
    rotation.resealed += written;
    rotation.overtaken += fresh.length - written;
  }
}

interface Sealed {
  id: string;
  sealed: string;
}

function findBatch(db: Db, column: EncryptedColumn, writer: EncryptionKey, after: string | null): Promise<Sealed[]> {
  const { table, id, sealed } = ENCRYPTED_COLUMNS[column];
  return queryRows<Sealed>(
    db,
    sql`
    select ${id}::text as id, ${sealed} as sealed from ${table}
    where ${sealed} is not null and not starts_with(${sealed}, ${ciphertextPrefix(writer)})
      and (${after}::text is null or ${id} > ${after}::text::${idType(column)})
    order by ${table}.id limit ${BATCH}`,
  );
}

async function writeBatch(
  db: Db,
  column: EncryptedColumn,
  batch: readonly (Sealed & { fresh: string; lookup: string })[],
) {
  if (batch.length === 0) return 0;
  const { table, id, sealed } = ENCRYPTED_COLUMNS[column];
  // The look-up value is derived from the same key as the seal, where there is one; whose it is stands before it.
  const lookup =
    column === 'webhooks.secret_sealed'
      ? sql`, secret_lookup = regexp_replace(webhooks.secret_lookup, '[0-9a-f]{64}$', r.lookup)`
      : sql``;
  const written = await queryRows(
    db,
    sql`
    update ${table} set ${sql.identifier(sealed.name)} = r.fresh${lookup}
    from jsonb_to_recordset(${recordset(batch)}::jsonb) as r(id text, sealed text, fresh text, lookup text)
    where ${id} = r.id::${idType(column)} and ${sealed} = r.sealed
    returning 1`,
  );
  return written.length;
}

const idType = (column: EncryptedColumn) => sql.raw(ENCRYPTED_COLUMNS[column].id.getSQLType());
