import type { Db } from '@carillon/db';

/** Counts the statements sent over `db`, except those of transactions, until the returned function is called. */
export function countStatements(db: Db): () => number {
  let count = 0;
  const restores = [db, db.onSharedConnection].map((one) => {
    const client = Reflect.get(one as object, '$client') as { unsafe(...given: unknown[]): unknown };
    const { unsafe } = client;
    client.unsafe = (...given) => {
      count += 1;
      return unsafe.call(client, ...given);
    };
    return () => {
      client.unsafe = unsafe;
    };
  });
  return () => {
    for (const restore of restores) restore();
    return count;
  };
}
