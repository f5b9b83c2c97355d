import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { connect, type Db, queryRows } from '../src/index.ts';
import { migrateDatabase } from '../src/migrate.ts';
import type { ReplicaState } from '../src/replica/replica.ts';
import { skipWithoutPgBouncer, startPgBouncer } from './pgbouncer.ts';
import { refused } from './refused.ts';
import { type Replication, type Standby, startReplication, startStandby } from './replication.ts';
import { folder, start, until } from './servers.ts';
import { openWire } from './wire.ts';

t.setTimeout(120_000);

const SAMPLE_MS = 20;

interface Options {
  url?: string;
  deadlineMs?: number;
  maxLagMs?: number;
}

/** A pool that reads from the standby, with the changes of its status. */
function open(
  t: Test,
  { url, standby }: Replication,
  { deadlineMs = 4000, maxLagMs = 60_000, ...given }: Options = {},
) {
  const changes: ReplicaState[] = [];
  const onChange = (state: ReplicaState) => void changes.push(state);
  const replica = { url: given.url ?? standby.url, sampleMs: SAMPLE_MS, maxLagMs, onChange };
  const { db, close } = connect(url, { max: 4, deadlineMs, replica });
  t.teardown(close);
  if (!db.replica) throw new Error('There is no replica.');
  const isStatus = (status: ReplicaState['status']) => until(() => db.replica?.states()[0]?.status === status);
  return { db, reads: db.replica, changes, isStatus };
}

async function insertUser(db: Db, name: string): Promise<number> {
  const [user] = await queryRows<{ id: number }>(
    db,
    sql`insert into users (identity_user_id, email, name) values (${name}, ${name}, ${name}) returning id`,
  );
  return user?.id ?? 0;
}

const rename = (db: Db, id: number, name: string) => db.execute(sql`update users set name = ${name} where id = ${id}`);

interface Read {
  name: string | undefined;
  isStandby: boolean | undefined;
}

async function readName(db: Db, id: number): Promise<Read> {
  const [user] = await queryRows<{ name: string; isStandby: boolean }>(
    db,
    sql`select name, pg_is_in_recovery() as is_standby from users where id = ${id}`,
  );
  return { name: user?.name, isStandby: user?.isStandby };
}

t.test('A standby answers with what it has replayed', async (t) => {
  const replication = await startReplication(t);
  const { db: primary, standby } = replication;
  const alice = await insertUser(primary, 'alice');
  await standby.catchUp();
  const { db, reads, isStatus } = open(t, replication);
  await isStatus('ready');
  const read = () => reads.read((db) => readName(db, alice));
  await until(async () => (await read()).isStandby === true);
  await standby.pause();
  await rename(db, alice, 'alice the second');
  t.same(await read(), { name: 'alice', isStandby: true });
  t.same(await readName(db, alice), { name: 'alice the second', isStandby: false });
  await standby.resume();
  await standby.catchUp();
  t.same(await read(), { name: 'alice the second', isStandby: true });
});

t.test('Once the primary has answered a statement of a read, it answers the rest', async (t) => {
  const replication = await startReplication(t);
  const { db: primary, standby } = replication;
  const alice = await insertUser(primary, 'alice');
  await standby.catchUp();
  const { reads, isStatus } = open(t, replication);
  await isStatus('ready');
  const [before, after] = await reads.read(async (db) => {
    await until(async () => (await readName(db, alice)).isStandby === true);
    await refused(db.execute(sql`select no_such_function()`));
    return [await readName(db, alice), await db.transaction((tx) => readName(tx, alice))];
  });
  t.same(before, { name: 'alice', isStandby: false });
  t.same(after, { name: 'alice', isStandby: false }, 'transactions are at the primary');
});

t.test('The primary answers while the standby is away, and the standby again when it is back', async (t) => {
  const replication = await startReplication(t);
  const { db: primary, standby } = replication;
  const alice = await insertUser(primary, 'alice');
  await standby.catchUp();
  const { reads, changes, isStatus } = open(t, replication);
  const read = () => reads.read((db) => readName(db, alice));
  await until(async () => (await read()).isStandby === true);
  const started = await startedAt(standby);
  // In flight on all of its connections.
  const slow = Array.from({ length: 6 }, () =>
    reads.read((db) => queryRows<{ id: number }>(db, sql`select id, pg_sleep(0.5) from users`)),
  );
  standby.signal('SIGKILL');
  for (const rows of await Promise.all(slow))
    t.same(
      rows.map(({ id }) => id),
      [alice],
    );
  t.match(await read(), { name: 'alice' });
  // The processes of a killed server answer for a moment.
  await until(async () => (await startedAt(standby, started)) !== started && (await read()).isStandby === true);
  const known = changes.length;
  await standby.stop();
  await isStatus('away');
  t.same(await read(), { name: 'alice', isStandby: false });
  t.ok(reads.outcomes().not_ready > 0);
  await standby.start();
  await until(async () => (await read()).isStandby === true);
  t.same(
    changes.slice(known).map(({ status }) => status),
    ['away', 'ready'],
    'each change is reported once',
  );
});

/** `started` while the server is away. */
const startedAt = async ({ db }: Standby, started?: string) => {
  const rows = queryRows<{ at: string }>(db, sql`select pg_postmaster_start_time() as at`);
  return rows.then(([row]) => row?.at).catch(() => started);
};

t.test('The primary answers while the standby is too far behind', async (t) => {
  const replication = await startReplication(t);
  const { db: primary, standby } = replication;
  const alice = await insertUser(primary, 'alice');
  await standby.catchUp();
  const { reads, isStatus } = open(t, replication, { maxLagMs: 300 });
  const read = () => reads.read((db) => readName(db, alice));
  await until(async () => (await read()).isStandby === true);
  await standby.pause();
  await rename(primary, await insertUser(primary, 'bob'), 'bob the second');
  await isStatus('behind');
  t.same(await read(), { name: 'alice', isStandby: false });
  const [state] = reads.states();
  t.ok((state?.lagMs ?? 0) > 300);
  await standby.resume();
  await until(async () => (await read()).isStandby === true);
  t.match(reads.states(), [{ status: 'ready', lagMs: Number }]);
});

t.test('The primary answers what replay cancels at the standby', async (t) => {
  const replication = await startReplication(t);
  const { db: primary, standby } = replication;
  const alice = await insertUser(primary, 'alice');
  await primary.execute(sql`create table rows as select n from generate_series(1, 1000) n`);
  await standby.db.execute(sql`alter system set max_standby_streaming_delay = 0`);
  await standby.db.execute(sql`select pg_reload_conf()`);
  await standby.catchUp();
  const { reads } = open(t, replication);
  await until(async () => (await reads.read((db) => readName(db, alice))).isStandby === true);
  // It may reject before the table is dropped for this process.
  const reading = refused(
    reads.read((db) =>
      queryRows<{ count: number }>(
        db,
        sql`select count(*)::int as count from rows, (select pg_sleep(case when pg_is_in_recovery() then 3 else 0 end)) s`,
      ),
    ),
  );
  await until(async () => (await sleepers(standby)) > 0);
  await primary.execute(sql`drop table rows`);
  // At the primary the table is gone.
  t.match((await reading).error, { cause: { code: '42P01' } });
  t.equal(reads.outcomes().conflict, 1);
  t.same(await reads.read((db) => readName(db, alice)), { name: 'alice', isStandby: true });
});

const sleepers = async (standby: Standby) =>
  (await queryRows(standby.db, sql`select from pg_stat_activity where wait_event = 'PgSleep'`)).length;

t.test('A statement that takes too long at the standby is not repeated at the primary', async (t) => {
  const replication = await startReplication(t);
  const alice = await insertUser(replication.db, 'alice');
  await replication.standby.catchUp();
  const { reads, isStatus } = open(t, replication, { deadlineMs: 800 });
  await isStatus('ready');
  await until(async () => (await reads.read((db) => readName(db, alice))).isStandby === true);
  const { error } = await refused(reads.read(async (db) => void (await db.execute(sql`select pg_sleep(5)`))));
  t.equal((error as { cause?: { code?: string } }).cause?.code, '57014');
  t.equal(reads.states()[0]?.status, 'ready');
});

t.test('Of several standbys those that are there are read, and no other database', async (t) => {
  const replication = await startReplication(t);
  const alice = await insertUser(replication.db, 'alice');
  await replication.standby.catchUp();
  const { host } = new URL(replication.standby.url);
  const url = `${replication.standby.url.replace(host, `${host},127.0.0.1:1`)}?target_session_attrs=prefer-standby`;
  const { reads } = open(t, replication, { url });
  await until(() => reads.states().every(({ status }) => status !== 'unknown'));
  t.match(reads.states(), [
    { server: host, status: 'ready' },
    { server: '127.0.0.1:1', status: 'away', lagMs: null, error: { code: 'ECONNREFUSED' } },
  ]);
  await until(async () => (await reads.read((db) => readName(db, alice))).isStandby === true);

  const { url: otherUrl } = await start(t, folder(t));
  await migrateDatabase(otherUrl);
  const wrong = open(t, replication, { url: otherUrl });
  await wrong.isStatus('other database');
  for (let n = 0; n < 5; n++) {
    t.same(await wrong.reads.read((db) => readName(db, alice)), { name: 'alice', isStandby: false });
  }
});

t.test('A standby that does not answer delays a read by the deadline, and the next ones not at all', async (t) => {
  const replication = await startReplication(t);
  const alice = await insertUser(replication.db, 'alice');
  await replication.standby.catchUp();
  const wire = await openWire(t, replication.standby.url);
  const { reads, isStatus } = open(t, replication, { url: wire.url, deadlineMs: 800 });
  const read = () => reads.read((db) => readName(db, alice));
  await until(async () => (await read()).isStandby === true);
  wire.freeze(true);
  const answers = await Promise.all([read(), read(), read()]);
  for (const answer of answers) t.same(answer, { name: 'alice', isStandby: false });
  await isStatus('away');
  const { not_ready: before } = reads.outcomes();
  t.same(await read(), { name: 'alice', isStandby: false });
  t.equal(reads.outcomes().not_ready, before + 1);
  wire.thaw();
  await until(async () => (await read()).isStandby === true);
});

t.test('Several standbys share the reads', async (t) => {
  const replication = await startReplication(t);
  const second = await startStandby(t, replication.url, replication.db);
  const hosts = [replication.standby, second].map(({ url }) => new URL(url).host);
  const url = replication.standby.url.replace(hosts[0] ?? '', hosts.join(','));
  await Promise.all([replication.standby.catchUp(), second.catchUp()]);
  const { reads } = open(t, replication, { url });
  await until(() => reads.states().every(({ status }) => status === 'ready'));
  const readPort = async (db: Db) =>
    (await queryRows<{ port: string }>(db, sql`select current_setting('port') as port`))[0]?.port;
  const ports = new Set<string | undefined>();
  for (let n = 0; n < 4; n++) ports.add(await reads.read(readPort));
  t.same([...ports].sort(), hosts.map((host) => host.split(':')[1]).sort());
});

t.test('A standby may be behind a pooler in transaction mode', { skip: skipWithoutPgBouncer }, async (t) => {
  const replication = await startReplication(t);
  const { standby } = replication;
  const alice = await insertUser(replication.db, 'alice');
  await standby.catchUp();
  const { url } = await startPgBouncer(t, standby.url, { mode: 'transaction' });
  const { db, reads } = open(t, replication, { url });
  const read = () => reads.read((db) => readName(db, alice));
  await until(async () => (await read()).isStandby === true);
  for (const answer of await Promise.all(Array.from({ length: 50 }, read))) {
    t.same(answer, { name: 'alice', isStandby: true });
  }
  await standby.pause();
  await rename(db, alice, 'alice the second');
  t.same(await read(), { name: 'alice', isStandby: true });
  await standby.resume();
  await standby.catchUp();
  t.same(await read(), { name: 'alice the second', isStandby: true });
});
