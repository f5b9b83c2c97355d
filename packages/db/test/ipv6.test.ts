import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { connect, queryRows } from '../src/index.ts';
import { migrateDatabase } from '../src/migrate.ts';
import { testDatabase } from '../src/test-database.ts';

t.test('A database at an IPv6 address is connected to', async (t) => {
  const { url } = await testDatabase(t);
  const { hostname, port } = new URL(url);
  const proxy = createServer((near) => {
    const far = connectSocket({ host: hostname, port: Number(port) });
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => {});
  });
  proxy.listen(0, '::1');
  const [error] = await Promise.race([once(proxy, 'listening'), once(proxy, 'error')]);
  if (error) return void t.comment('this machine has no IPv6');
  t.teardown(() => proxy.close());
  const there = Object.assign(new URL(url), { host: `[::1]:${(proxy.address() as AddressInfo).port}` }).href;
  t.match(await migrateDatabase(there), { applied: 0 });
  const { db, close } = connect(there);
  t.same(await queryRows(db, sql`select 1 as one`), [{ one: 1 }]);
  await close();
});
