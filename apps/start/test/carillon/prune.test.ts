import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orphanedObjects, passwordResets, sessions, uploads, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { runCarillon } from './run-carillon.ts';

const cwd = mkdtempSync(join(tmpdir(), 'carillon-prune-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
const folder = join(cwd, 'files');
const DAYS = 24 * 60 * 60 * 1000;
const longAgo = new Date(Date.now() - 400 * DAYS);
const { db, url } = await testDatabase(t);
const prune = (...args: string[]) =>
  runCarillon(['prune', ...args], { DATA_DIR: cwd, DATABASE_URL: url, STORAGE_DRIVER: 'disk' }, { cwd });

function store(name: string, changedAt: Date) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), 'content');
  utimesSync(join(folder, name), changedAt, changedAt);
}

t.test('Expired data and old files without an upload are deleted, and nothing else', async (t) => {
  const [alice] = await db
    .insert(users)
    .values({ identityUserId: 'local:a', email: 'alice@example.com', name: 'Alice' })
    .returning();
  const userId = alice?.id ?? 0;
  const id = '00000000-0000-4000-8000-000000000001';
  await db.insert(sessions).values({ id, userId, createdAt: longAgo, lastUsedAt: longAgo, expiresAt: longAgo });
  await db.insert(passwordResets).values({ tokenHash: 'a', userId, createdAt: longAgo, expiresAt: longAgo });
  await db.insert(orphanedObjects).values([
    { key: 'over.txt', deleteAfter: longAgo },
    { key: 'coming.txt', userId, deleteAfter: new Date(Date.now() + DAYS) },
  ]);
  const stored = { type: 'text/plain', size: 7, storage: 'blob', storageKey: 'named.txt', url: 'u' } as const;
  await db.insert(uploads).values({ id, userId, name: 'named', ...stored, uploadedAt: new Date() });
  for (const name of ['over.txt', 'coming.txt', 'named.txt', 'orphan.txt', 'other.txt']) store(name, longAgo);
  store('young.txt', new Date(Date.now() - DAYS / 2));

  const { code, out, err } = await prune('--json');
  t.same([code, err], [0, '']);
  const orphans = { found: 2, removed: 2, refused: false };
  t.match(JSON.parse(out), { deleted: { sessions: 1, 'reset tokens': 1, executions: 0 }, objects: 1, orphans });
  t.strictSame(readdirSync(folder).sort(), ['coming.txt', 'named.txt', 'young.txt']);
  t.equal(await db.$count(sessions), 0);
});

t.test('Files are not deleted if the database knows none of them', async (t) => {
  await db.delete(uploads);
  await db.delete(orphanedObjects);
  const { code, out } = await prune();
  t.equal(code, 1);
  t.match(out, `${folder} contains old files (2), none of them known to this database`);
  t.strictSame(readdirSync(folder).sort(), ['coming.txt', 'named.txt', 'young.txt']);
});
