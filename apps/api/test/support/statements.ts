import type { Db } from '@carillon/db';

/** Counts the statements that are asked of `db`, but for those of transactions, until the function it returns is called. */
export function countStatements(db: Db): () => number {
  let asked = 0;
  const { session } = db as unknown as { session: { client: { unsafe(...given: unknown[]): unknown } } };
  const { unsafe } = session.client;
  session.client.unsafe = (...given) => {
    asked += 1;
    return unsafe(...given);
  };
  return () => {
    session.client.unsafe = unsafe;
    return asked;
  };
}
