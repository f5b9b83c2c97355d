import { sql } from 'drizzle-orm';
import t from 'tap';
import { connect, type Db, isDatabaseUnavailable, isOutage, queryRows } from '../src/index.ts';
import { findPooling } from '../src/pool/pooling.ts';
import { testDatabase } from '../src/test-database.ts';
import { skipWithoutPgBouncer, startPgBouncer } from './pgbouncer.ts';

const { url } = await testDatabase(t);
const ask = async (db: Db, n: number) => (await queryRows<{ n: number }>(db, sql`select ${n}::int as n`))[0]?.n;

t.test('Statements that the server has lost are refused, and none gets the answer of another', async (t) => {
  const { db, close } = connect(url, { max: 1 });
  t.teardown(close);
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  for (let round = 0; round < 10; round++) {
    await ask(db, 0);
    await db.execute(sql`deallocate all`);
    const answers = await Promise.allSettled(numbers.map((n) => ask(db, n)));
    for (const [n, answer] of answers.entries()) {
      if (answer.status === 'fulfilled') t.equal(answer.value, n);
      else t.ok(isDatabaseUnavailable(answer.reason), String(answer.reason));
    }
    t.ok(answers.some(({ status }) => status === 'rejected'));
  }
  t.equal(await ask(db, 1), 1, 'a new connection prepares them again');
});

t.test(
  'A statement that a pooler has lost counts as an outage, after which none is prepared',
  { skip: skipWithoutPgBouncer },
  async (t) => {
    const { url: pooled, setMode } = await startPgBouncer(t, url, { mode: 'session' });
    t.same(await findPooling(pooled, 'auto'), { kind: 'session', keepsStatements: true });
    setMode('transaction');
    let error: unknown;
    while (error === undefined) {
      const [own, other] = [connect(pooled, { max: 1 }), connect(pooled, { max: 1 })];
      await ask(own.db, 1);
      // While the transaction has the server connection that knows the statement, another one gets it.
      await other.db.transaction(async (tx) => {
        await tx.execute(sql`select 2`);
        error = await ask(own.db, 1).then(
          () => undefined,
          (reason) => reason,
        );
      });
      if (error) t.equal(await ask(own.db, 1), 1);
      await Promise.all([own.close(), other.close()]);
    }
    t.ok(isOutage(error), String(error));
    t.same(await findPooling(pooled, 'auto'), { kind: 'transaction', keepsStatements: false });
  },
);
