import { chmodSync, mkdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureReachable, getServerAccount } from '@carillon/db/embedded/programs';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import t from 'tap';
import { folder, start } from './servers.ts';

const skip = process.getuid?.() === 0 ? false : 'only root runs the server as another user';

t.test('Root runs the server as the user postgres', { skip }, async (t) => {
  const dataDir = folder(t);
  await start(t, dataDir);
  t.not(statSync(join(dataDir, 'postgres/data/postmaster.pid')).uid, 0);
});

t.test('Root gets a one-line error when that user cannot reach the data folder', { skip }, async (t) => {
  const dataDir = folder(t);
  const closed = dirname(dataDir);
  chmodSync(closed, 0o700);
  await t.rejects(startEmbeddedPostgres({ dataDir }), {
    message: `PostgreSQL does not run as root, and the user it runs as cannot use ${dataDir}, as ${closed} is closed to it: set DATA_DIR to a folder that it can reach, e.g. /var/lib/carillon, or set DATABASE_URL to a PostgreSQL of your own, or run Carillon as an ordinary user.`,
  });
});

t.test('Programs that only root can reach are copied into the data folder once', { skip }, async (t) => {
  const dataDir = folder(t);
  const closed = join(dataDir, 'closed');
  const bin = join(closed, 'native/bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(closed, 'package.json'), '{"version": "1.2.3"}');
  writeFileSync(join(bin, 'postgres'), '#!/bin/sh\necho 18\n', { mode: 0o700 });
  chmodSync(closed, 0o700);
  const account = await getServerAccount();
  const programs = { initdb: join(bin, 'initdb'), pg_ctl: join(bin, 'pg_ctl'), postgres: join(bin, 'postgres') };
  const copies = await ensureReachable(programs, dataDir, account);
  t.equal(copies.postgres, join(dataDir, 'postgres-programs-1.2.3/bin/postgres'));
  const { ino } = statSync(copies.postgres);
  await ensureReachable(programs, dataDir, account);
  t.equal(statSync(copies.postgres).ino, ino);
});

t.test('Links between libraries that an installation lacks are made, in a copy where it is read-only', async (t) => {
  const dataDir = folder(t);
  const native = join(dataDir, 'package/native');
  for (const name of ['bin', 'lib']) mkdirSync(join(native, name), { recursive: true });
  writeFileSync(join(dataDir, 'package/package.json'), '{"version": "1.2.3"}');
  writeFileSync(join(native, 'bin/postgres'), '#!/bin/sh\necho 18\n', { mode: 0o755 });
  writeFileSync(join(native, 'lib/libpq.so.5.18'), '');
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  const programs = { initdb: '', pg_ctl: '', postgres: join(native, 'bin/postgres') };
  for (const _ of ['made', 'found']) {
    t.equal((await ensureReachable(programs, dataDir, null)).postgres, programs.postgres);
    t.equal(readlinkSync(join(native, 'lib/libpq.so.5')), 'libpq.so.5.18');
  }

  // A folder that is not there stands for one that cannot be written: root writes into any.
  links.push({ source: 'native/gone/a.so.1', target: 'native/gone/a.so' });
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  const copies = await ensureReachable(programs, dataDir, null);
  t.equal(copies.postgres, join(dataDir, 'postgres-programs-1.2.3/bin/postgres'));
  t.equal(readlinkSync(join(dataDir, 'postgres-programs-1.2.3/lib/libpq.so.5')), 'libpq.so.5.18');
});
