import type postgres from 'postgres';

/**
 * Changes settings until the end of the transaction, by commands that take no snapshot. A pooler refuses them as parameters of
 * the connection, and would keep those of a session for the next client.
 */
export async function setLocally(tx: postgres.TransactionSql, settings: Readonly<Record<string, string>>) {
  await tx.unsafe(
    Object.entries(settings)
      .map(([name, value]) => `set local ${name} = '${value}'`)
      .join('; '),
  );
}
