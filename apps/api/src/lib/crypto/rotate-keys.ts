import { type Db, queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { EncryptionKey } from '../config/secrets.ts';
import {
  ciphertextPrefix,
  columnAad,
  decrypt,
  ENCRYPTED_COLUMNS,
  type EncryptedColumn,
  encrypt,
  toBlindIndex,
} from './encryption.ts';

const BATCH_SIZE = 500;

export interface Rotation {
  column: EncryptedColumn;
  reencrypted: number;
  /** Values that the service changed or deleted after the batch was read. */
  changedMeanwhile: number;
  /** Why the other values cannot be decrypted; never their content. */
  failures: string[];
}

/** Compares before it writes, so the service may run meanwhile, and a rotation may be interrupted and repeated. */
export async function* rotateKeys(db: Db, keys: readonly EncryptionKey[]): AsyncGenerator<Rotation> {
  for (const column of Object.keys(ENCRYPTED_COLUMNS) as EncryptedColumn[]) yield await rotateColumn(db, keys, column);
}

async function rotateColumn(db: Db, keys: readonly EncryptionKey[], column: EncryptedColumn): Promise<Rotation> {
  const rotation: Rotation = { column, reencrypted: 0, changedMeanwhile: 0, failures: [] };
  const [newKey] = keys;
  if (!newKey) throw new Error('There is no key to encrypt with.');
  let lastId: string | null = null;
  for (;;) {
    const batch: Encrypted[] = await findBatch(db, column, newKey, lastId);
    lastId = batch.at(-1)?.id ?? null;
    if (lastId === null) return rotation;
    const changes = batch.flatMap(({ id, ciphertext }) => {
      const aad = columnAad(column, id);
      try {
        const plaintext = decrypt(keys, ciphertext, aad);
        const blindIndex = toBlindIndex(newKey, plaintext);
        return { id, ciphertext, replacement: encrypt(keys, plaintext, aad), blindIndex };
      } catch (error) {
        rotation.failures.push((error as Error).message);
        return [];
      }
    });
    const written = await writeBatch(db, column, changes);
    rotation.reencrypted += written;
    rotation.changedMeanwhile += changes.length - written;
  }
}

interface Encrypted {
  id: string;
  ciphertext: string;
}

type Change = Encrypted & { replacement: string; blindIndex: string };

function findBatch(db: Db, column: EncryptedColumn, newKey: EncryptionKey, lastId: string | null) {
  const { table, id, ciphertext } = ENCRYPTED_COLUMNS[column];
  return queryRows<Encrypted>(
    db,
    sql`
    select ${id}::text as id, ${ciphertext} as ciphertext from ${table}
    where ${ciphertext} is not null and not starts_with(${ciphertext}, ${ciphertextPrefix(newKey)})
      and (${lastId}::text is null or ${id} > ${lastId}::text::${idType(column)})
    order by ${table}.id limit ${BATCH_SIZE}`,
  );
}

async function writeBatch(db: Db, column: EncryptedColumn, changes: readonly Change[]): Promise<number> {
  if (changes.length === 0) return 0;
  const { table, id, ciphertext } = ENCRYPTED_COLUMNS[column];
  // The index may have a prefix, which stays.
  const blindIndex =
    column === 'endpoints.secret_encrypted'
      ? sql`, secret_lookup = regexp_replace(endpoints.secret_lookup, '[0-9a-f]{64}$', r.blind_index)`
      : sql``;
  const written = await queryRows(
    db,
    sql`
    update ${table} set ${sql.identifier(ciphertext.name)} = r.replacement${blindIndex}
    from ${recordset('r', changes, { id: 'text', ciphertext: 'text', replacement: 'text', blindIndex: 'text' })}
    where ${id} = r.id::${idType(column)} and ${ciphertext} = r.ciphertext
    returning 1`,
  );
  return written.length;
}

const idType = (column: EncryptedColumn) => sql.raw(ENCRYPTED_COLUMNS[column].id.getSQLType());
