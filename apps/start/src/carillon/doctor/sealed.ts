import type { EncryptionKey } from '@carillon/api/config/secrets';
import { columnAad, ENCRYPTED_COLUMNS, type EncryptedColumn } from '@carillon/api/crypto/encrypted-columns';
import { decrypt } from '@carillon/api/crypto/encryption';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Finding, findingsOf } from './finding.ts';

const { ok, fault } = findingsOf('secrets');

/** Whether the keys open what is sealed: one value of each column and key is tried. */
export async function examineSealed(db: Db, keys: readonly EncryptionKey[]): Promise<Finding[]> {
  const faults: Finding[] = [];
  for (const column of Object.keys(ENCRYPTED_COLUMNS) as EncryptedColumn[]) {
    const { table, id, ciphertext: sealed } = ENCRYPTED_COLUMNS[column];
    const samples = await queryRows<{ id: string; sealed: string }>(
      db,
      sql`
      select distinct on (split_part(${sealed}, '.', 2)) ${id}::text as id, ${sealed} as sealed from ${table}
      where ${sealed} is not null order by split_part(${sealed}, '.', 2), ${id} desc`,
    );
    for (const sample of samples) {
      try {
        decrypt(keys, sample.sealed, columnAad(column, sample.id));
      } catch (error) {
        faults.push(
          fault((error as Error).message, 'Add the key that it was sealed under to ENCRYPTION_KEY, behind the first.'),
        );
      }
    }
  }
  return faults.length > 0 ? faults : [ok('ENCRYPTION_KEY opens what is sealed')];
}
