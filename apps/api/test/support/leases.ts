import { sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import { inTransaction } from '../../src/transaction.ts';

const TABLES = ['executions', 'deliveries', 'agent_calls', 'mails'];

/** Advances the test clock, and the leases as far as if the database's clock had advanced too. */
export async function passTime(
  { ctx, clock }: { ctx: Context; clock: { advance(ms: number): void } },
  ms: number,
): Promise<void> {
  clock.advance(ms);
  for (const table of TABLES) {
    // Repeats the update if an execution ends meanwhile, which moves its row.
    await inTransaction(ctx, ({ db }) =>
      db.execute(
        sql`update ${sql.identifier(table)} set lease_until = lease_until - make_interval(secs => ${ms / 1000}::float8)
        where lease_until is not null`,
      ),
    );
  }
}
