import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { describeServers, listServers, parseDatabaseUrl } from '../src/database-url.ts';
import { connect, type Db, isDatabaseUnavailable, listen, queryRows } from '../src/index.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { describeTemporaryOutage } from '../src/temporary-outage.ts';
import { refused } from './refused.ts';
import { ask, preparedFolder, start, until } from './servers.ts';

const DEADLINE_MS = 2000;

/** A standby that follows no primary: it answers queries, refuses writes, and can be promoted. */
async function startStandby(t: Test) {
  const dataDir = await preparedFolder(t, 'standby');
  writeFileSync(join(dataDir, 'postgres/data/standby.signal'), '');
  return start(t, dataDir);
}

const startPrimary = async (t: Test) => start(t, await preparedFolder(t, 'primary'));

/** One URL for servers with the same user and password. */
function joinServers(...servers: { url: string }[]): string {
  const [first, ...others] = servers.map(({ url }) => new URL(url)) as [URL, ...URL[]];
  const hosts = [first, ...others].map(({ host }) => host).join(',');
  return `${first.href.replace(first.host, hosts)}?target_session_attrs=read-write`;
}

function open(t: Test, url: string): Db {
  const { db, close } = connect(url, { max: 2, deadlineMs: DEADLINE_MS });
  t.teardown(close);
  return db;
}

const portOf = ({ url }: { url: string }) => Number(new URL(url).port);

async function readPort(db: Db): Promise<number> {
  const [row] = await queryRows<{ port: number }>(db, sql`select current_setting('port')::int as port`);
  return row?.port ?? 0;
}

t.test('A URL may list several servers', (t) => {
  t.strictSame(listServers('postgres://u:p@a:1,b,[::1]:3/name?sslmode=require'), [
    'postgres://u:p@a:1/name?sslmode=require',
    'postgres://u:p@b/name?sslmode=require',
    'postgres://u:p@[::1]:3/name?sslmode=require',
  ]);
  t.strictSame(listServers('postgres://a,b/name'), ['postgres://a/name', 'postgres://b/name']);
  t.strictSame(listServers('postgres://u@a/name'), ['postgres://u@a/name']);
  t.strictSame(listServers('postgres://u:a,b@c/d,e'), ['postgres://u:a,b@c/d,e'], 'a comma elsewhere');
  t.throws(() => listServers('postgres://a,,b/name'), { message: /empty host/ });
  t.equal(describeServers('postgres://u:secret@a:1,b:2/name'), 'a:1, b:2');
  t.end();
});

t.test('The primary is used whatever target_session_attrs asks for, and standbys cannot be asked for', (t) => {
  t.equal(parseDatabaseUrl('postgres://a/b?target_session_attrs=primary').url, 'postgres://a/b');
  t.throws(() => parseDatabaseUrl('postgres://a/b?target_session_attrs=standby'), {
    message: 'DATABASE_URL has target_session_attrs=standby, which takes primary or read-write.',
  });
  t.end();
});

t.test('Connections, migrations and notifications go to the primary, wherever the URL lists it', async (t) => {
  const primary = await startPrimary(t);
  const standby = await startStandby(t);
  for (const url of [joinServers(primary, standby), joinServers(standby, primary)]) {
    t.equal(await readPort(open(t, url)), portOf(primary));
    await migrateDatabase(url);
  }
  const notified = Promise.withResolvers<string>();
  const listening = Promise.withResolvers<void>();
  const { close } = listen(joinServers(standby, primary), 'news', (payload) =>
    payload === null ? listening.resolve() : notified.resolve(payload),
  );
  t.teardown(close);
  await listening.promise;
  await ask(primary.url, `notify news, 'hello'`);
  t.equal(await notified.promise, 'hello');
});

t.test('Statements are refused while there is no primary, and go to the standby once it is promoted', async (t) => {
  const primary = await startPrimary(t);
  const standby = await startStandby(t);
  const db = open(t, joinServers(primary, standby));
  t.equal(await readPort(db), portOf(primary));
  await primary.stop();
  const { error } = await refused(readPort(db));
  t.ok(isDatabaseUnavailable(error));
  const { error: waiting } = await refused(migrateDatabase(joinServers(standby, standby)));
  t.equal(describeTemporaryOutage(waiting), 'it is read-only, like a standby (25006)');
  await ask(standby.url, 'select pg_promote()');
  await until(async () => (await refused(readPort(db))).error === undefined);
  t.equal(await readPort(db), portOf(standby));
  await db.execute('create table written (id int)');
});

t.test('A connection whose server became read-only is replaced', async (t) => {
  const { url } = await startPrimary(t);
  const db = open(t, url);
  const readPid = async () => (await queryRows<{ pid: number }>(db, sql`select pg_backend_pid() as pid`))[0]?.pid;
  const before = await readPid();
  await ask(url, 'alter system set default_transaction_read_only = on');
  await ask(url, 'select pg_reload_conf()');
  await until(
    async () => (await refused(db.execute('create table if not exists written (id int)'))).error !== undefined,
  );
  t.not(await readPid(), before);
});
