import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect as connectSocket, createServer, type ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { describeServers } from '../src/database-url.ts';
import { connect, queryRows } from '../src/index.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { describeTemporaryOutage } from '../src/temporary-outage.ts';
import { testDatabase } from '../src/test-database.ts';

/** Null where the machine cannot listen there. */
async function startProxy(t: Test, url: string, at: ListenOptions) {
  const { hostname, port } = new URL(url);
  const proxy = createServer((near) => {
    const far = connectSocket({ host: hostname, port: Number(port) });
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => {});
  });
  proxy.listen(at);
  const [error] = await Promise.race([once(proxy, 'listening'), once(proxy, 'error')]);
  if (error) return null;
  t.teardown(() => proxy.close());
  return proxy;
}

async function assertUsable(t: Test, url: string) {
  t.match(await migrateDatabase(url), { applied: 0 });
  const { db, close } = connect(url);
  t.same(await queryRows(db, sql`select 1 as one`), [{ one: 1 }]);
  await close();
}

t.test('A database at an IPv6 address is connected to', async (t) => {
  const { url } = await testDatabase(t);
  const proxy = await startProxy(t, url, { host: '::1', port: 0 });
  if (proxy === null) return void t.comment('this machine has no IPv6');
  const host = `[::1]:${(proxy.address() as AddressInfo).port}`;
  await assertUsable(t, Object.assign(new URL(url), { host }).href);
});

t.test('A database at a socket is connected to, by the folder of the socket', async (t) => {
  const { url } = await testDatabase(t);
  // A socket's path is limited to about 100 characters.
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { username, password, pathname } = new URL(url);
  for (const [name, port] of [
    ['.s.PGSQL.5432', ''],
    ['.s.PGSQL.5433', ':5433'],
  ] as const) {
    t.ok(await startProxy(t, url, { path: join(folder, name) }));
    const there = `postgres://${username}:${password}@${encodeURIComponent(folder)}${port}${pathname}`;
    await assertUsable(t, there);
    t.equal(describeServers(there), `${folder}${port}`);
  }
  const { db, close } = connect(`postgres://carillon@${encodeURIComponent(folder)}:5434/carillon`);
  const error = await queryRows(db, sql`select 1`).catch((reason: unknown) => reason);
  t.equal(describeTemporaryOutage(error), 'it refuses connections (ECONNREFUSED)', 'the server is down');
  await close();
});
