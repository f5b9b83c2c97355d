import { sql } from 'drizzle-orm';
import postgres from 'postgres';
import t from 'tap';
import { connect, type Db, listen, queryRows } from '../src/index.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { findPooling } from '../src/pool/pooling.ts';
import { testDatabase } from '../src/test-database.ts';
import { emptyDatabase } from './empty-database.ts';
import { skipWithoutPgBouncer as skip, skipBeforePgBouncer121, startPgBouncer } from './pgbouncer.ts';

const { url, db } = await testDatabase(t);
await db.execute(sql`create table notes (id int primary key generated always as identity, n int not null)`);

const TRANSACTION = { kind: 'transaction', keepsStatements: false };
const REFUSAL =
  /^The pooler at 127\.0\.0\.1:\d+ loses prepared statements: remove DATABASE_PREPARE=true, or set max_prepared_statements in PgBouncer 1\.21 or newer\.$/;

t.test('Without a pooler, nothing is searched', async (t) => {
  t.same(await findPooling(url, 'auto'), { kind: 'direct', keepsStatements: true });
  t.same(await findPooling(url, 'true'), { kind: 'direct', keepsStatements: true });
});

t.test('The mode of a pooler is found with few connections and with many', { skip }, async (t) => {
  for (const poolSize of [1, 2, 5, 20]) {
    const session = await startPgBouncer(t, url, { mode: 'session', poolSize });
    t.same(await findPooling(session.url, 'auto'), { kind: 'session', keepsStatements: true }, `${poolSize}`);
    const transaction = await startPgBouncer(t, url, { mode: 'transaction', poolSize });
    t.same(await findPooling(transaction.url, 'auto'), TRANSACTION, `${poolSize}`);
    await t.rejects(findPooling(transaction.url, 'true'), { message: REFUSAL });
  }
});

t.test('The mode of a pooler is found while others use it', { skip }, async (t) => {
  for (let round = 0; round < 5; round++) {
    const pooler = await startPgBouncer(t, url, { mode: 'transaction' });
    const pools = [connect(pooler.url, { prepare: 'false' }), connect(pooler.url, { prepare: 'false' })];
    let isBusy = true;
    const work = async (db: Db) => {
      while (isBusy) await db.transaction((tx) => queryRows(tx, sql`select 1`));
    };
    const traffic = Promise.all(pools.flatMap(({ db }) => Array.from({ length: 8 }, () => work(db))));
    t.same(await findPooling(pooler.url, 'auto'), TRANSACTION);
    isBusy = false;
    await traffic;
    for (const { close } of pools) await close();
  }
});

t.test('A pooler that keeps prepared statements is found', { skip: skipBeforePgBouncer121 }, async (t) => {
  const pooler = await startPgBouncer(t, url, { mode: 'transaction', keepsStatements: true });
  for (const prepare of ['auto', 'true'] as const)
    t.same(await findPooling(pooler.url, prepare), { kind: 'transaction', keepsStatements: true });
});

/** A statement of one of 300 texts, some without parameters. Returns the number and the server process. */
async function ask(db: Db, n: number) {
  const text = n % 3 === 0 ? sql.raw(`${n}`) : sql`${n}`;
  const variant = sql.raw(`/* ${n % 300} */`);
  const [row] = await queryRows<{ n: number; pid: number }>(
    db,
    sql`select ${text}::int as n, pg_backend_pid() as pid ${variant}`,
  );
  return row;
}

for (const keepsStatements of [false, true]) {
  const kept = keepsStatements ? 'kept' : 'lost';
  t.test(
    `Each of many statements at once gets its own answer where prepared ones are ${kept}, and a transaction stays together`,
    { skip: keepsStatements ? skipBeforePgBouncer121 : skip },
    async (t) => {
      for (const poolSize of [1, 3]) {
        const pooler = await startPgBouncer(t, url, { mode: 'transaction', keepsStatements, poolSize });
        const pools = [connect(pooler.url, { max: 5 }), connect(pooler.url, { max: 5 })];
        let n = 0;
        const wrong: unknown[] = [];
        const workOn = async (db: Db) => {
          for (let round = 0; round < 20; round++) {
            const mine = n++;
            if (round % 5 > 0) {
              const row = await ask(round % 2 ? db : (db.onSharedConnection ?? db), mine);
              if (row?.n !== mine) wrong.push([mine, row]);
            } else {
              const rows = await db.transaction((tx) => Promise.all([ask(tx, mine), ask(tx, mine + 1), ask(tx, mine)]));
              if (rows[0]?.n !== mine || rows[1]?.n !== mine + 1 || rows[2]?.n !== mine) wrong.push([mine, rows]);
              if (new Set(rows.map((row) => row?.pid)).size > 1) wrong.push(rows);
            }
          }
        };
        await Promise.all(pools.flatMap(({ db }) => Array.from({ length: 60 }, () => workOn(db))));
        t.equal(n, 2400);
        t.same(wrong, [], `with ${poolSize} connections of the pooler`);
        for (const { close } of pools) await close();
      }
    },
  );
}

t.test('In transaction mode a transaction has its timeouts, and no session keeps them', { skip }, async (t) => {
  for (const prepare of ['auto', 'false'] as const) {
    const pooler = await startPgBouncer(t, url, { mode: 'transaction', poolSize: 1 });
    const { db: pooled, close } = connect(pooler.url, { prepare, deadlineMs: 2000 });
    t.teardown(close);
    const read = async (db: Db) => {
      const [row] = await queryRows(
        db,
        sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
          current_setting('idle_in_transaction_session_timeout') as idle`,
      );
      return row;
    };
    t.same(await pooled.transaction(read), { statement: '1750ms', lock: '1500ms', idle: '700ms' });
    t.same(await read(pooled), { statement: '0', lock: '0', idle: '0' });
    const error = await pooled.transaction((tx) => tx.execute(sql`select pg_sleep(5)`)).catch((reason) => reason);
    t.equal(error.cause?.code, '57014', 'the server ends a slow statement');
    for (let n = 0; n < 10; n++) t.equal((await ask(pooled, n))?.n, n);
  }
});

t.test('A statement that is given up leaves the other connections in use', { skip }, async (t) => {
  const pooler = await startPgBouncer(t, url, { mode: 'transaction' });
  const { db: pooled, close } = connect(pooler.url, { max: 2, deadlineMs: 800 });
  t.teardown(close);
  const error = await pooled.execute(sql`select pg_sleep(3)`).catch((reason) => reason);
  t.match(error.cause, { code: 'DATABASE_TIMEOUT' });
  t.equal((await ask(pooled, 7))?.n, 7);
});

t.test('In transaction mode no session listens', { skip }, async (t) => {
  const pooler = await startPgBouncer(t, url, { mode: 'transaction', poolSize: 1 });
  const heard: unknown[] = [];
  for (const prepare of ['auto', 'false'] as const) {
    const listener = listen(pooler.url, 'notes', (payload) => heard.push(payload), { prepare });
    await listener.ended;
    const { db: pooled, close } = connect(pooler.url, { prepare });
    await pooled.execute(sql`select pg_notify('notes', 'hello')`);
    t.same(await queryRows(pooled, sql`select pg_listening_channels() as channel`), []);
    await close();
  }
  t.same(heard, []);
});

t.test('Processes that start together migrate once through a pooler, and leave no lock', { skip }, async (t) => {
  const { url: empty } = await emptyDatabase(t, 'pooled');
  const pooler = await startPgBouncer(t, empty, { mode: 'transaction', poolSize: 2 });
  const migrated = await Promise.all([1, 2, 3].map(() => migrateDatabase(pooler.url)));
  t.equal(migrated.filter(({ applied }) => applied > 0).length, 1);
  t.equal(new Set(migrated.map(({ newest }) => newest)).size, 1);
  const admin = postgres(empty, { max: 1 });
  const held = await admin`
    select pid from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`;
  t.same([...held], []);
  await admin.end();
});
