import { type Db, queryRows } from '@carillon/db';
import { getTableName, sql } from 'drizzle-orm';
import type { EncryptionKey } from '../../../lib/config/secrets.ts';
import { columnAad, decrypt, ENCRYPTED_COLUMNS, type EncryptedColumn } from '../../../lib/crypto/encryption.ts';
import { type DoctorTexts, type Finding, findingsFor } from './finding.ts';

const { ok, problem } = findingsFor('secrets');

/** Decrypts one value of each encrypted column and key. */
export async function checkEncryptionKeys(
  db: Db,
  keys: readonly EncryptionKey[],
  texts: DoctorTexts,
): Promise<Finding[]> {
  const problems: Finding[] = [];
  for (const column of Object.keys(ENCRYPTED_COLUMNS) as EncryptedColumn[]) {
    const { table, id, ciphertext } = ENCRYPTED_COLUMNS[column];
    const [present] = await queryRows<{ oid: string | null }>(
      db,
      sql`select to_regclass(${getTableName(table)}) as oid`,
    );
    // A schema that is not migrated yet may lack it.
    if (present?.oid === null) continue;
    const samples = await queryRows<{ id: string; ciphertext: string }>(
      db,
      sql`
      select distinct on (split_part(${ciphertext}, '.', 2)) ${id}::text as id, ${ciphertext} as ciphertext from ${table}
      where ${ciphertext} is not null order by split_part(${ciphertext}, '.', 2), ${id} desc`,
    );
    for (const sample of samples) {
      try {
        decrypt(keys, sample.ciphertext, columnAad(column, sample.id));
      } catch (error) {
        problems.push(problem((error as Error).message, texts.addEncryptionKey));
      }
    }
  }
  return problems.length > 0 ? problems : [ok(texts.secretsDecrypted)];
}
