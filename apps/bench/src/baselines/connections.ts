import postgres from 'postgres';

/** Runs a prepared statement. Instants are ISO 8601. */
export type Query = <Row>(text: string, values?: readonly (string | number)[]) => Promise<Row[]>;

/**
 * Opens `count` connections and gives each statement to the one with the fewest pending. They are postgres.js clients
 * with one connection each, because its own pool slows down with the number of queries that it has run.
 */
export async function openConnections(url: string, count: number): Promise<Query> {
  const connections = Array.from({ length: count }, () => ({
    sql: postgres(url, { max: 1, idle_timeout: 0, max_lifetime: null }),
    pending: 0,
  }));
  await Promise.all(connections.map(({ sql }) => sql`select`));
  return async <Row>(text: string, values: readonly (string | number)[] = []) => {
    const chosen = connections.reduce((least, connection) => (connection.pending < least.pending ? connection : least));
    chosen.pending += 1;
    try {
      return (await chosen.sql.unsafe(text, [...values], { prepare: true })) as unknown as Row[];
    } finally {
      chosen.pending -= 1;
    }
  };
}
