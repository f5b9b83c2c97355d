import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeys, auditLog, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { openCarillon, runCarillon } from './run-carillon.ts';

const cwd = mkdtempSync(join(tmpdir(), 'carillon-keys-'));
t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
const { db, url } = await testDatabase(t);
const env = { DATA_DIR: cwd, DATABASE_URL: url };
const runNext = openCarillon(t);
const keys = (...args: string[]) => runNext(['keys', ...args], env, { cwd });

const ID = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const AT = new Date('2026-11-20T10:00:00.000Z');

async function insertUser(email: string, ids: number[]): Promise<number> {
  const [user] = await db.insert(users).values({ identityUserId: email, email, name: 'A user' }).returning();
  const userId = user?.id ?? 0;
  const key = { userId, prefix: 'crl_4fK9mQ2x', name: 'Nightly "report"', scopes: ['tasks:read', 'usage:read'] };
  for (const n of ids) {
    const expiresAt = n === 1 ? AT : null;
    await db
      .insert(apiKeys)
      .values({ ...key, id: ID(n), secretHash: `hash ${n}`, createdAt: new Date(AT.getTime() + n), expiresAt });
  }
  return userId;
}

const alice = await insertUser('alice@example.com', [1, 2, 3]);
await insertUser('bob@example.com', [4]);

t.test('The keys of a user are listed without their secrets, expired ones too', async (t) => {
  const text = await runCarillon(['keys', 'list', '--user', 'Alice@Example.com'], env, { cwd });
  t.same(text, {
    code: 0,
    err: '',
    out: [
      `${ID(3)}  crl_4fK9mQ2x…  "Nightly \\"report\\""  tasks:read usage:read  no expiry  never used`,
      `${ID(2)}  crl_4fK9mQ2x…  "Nightly \\"report\\""  tasks:read usage:read  no expiry  never used`,
      `${ID(1)}  crl_4fK9mQ2x…  "Nightly \\"report\\""  tasks:read usage:read  expired ${AT.toISOString()}  never used`,
      'Alice@Example.com has 3 API keys.\n',
    ].join('\n'),
  });
  const json = await keys('list', '--user', 'alice@example.com', '--json');
  t.same(
    JSON.parse(json.out).map(({ id }: { id: string }) => id),
    [ID(3), ID(2), ID(1)],
  );
  t.notMatch(json.out, /hash/);
});

t.test('A key is revoked by its id, for its owner only, and all at once', async (t) => {
  const one = await keys('revoke', '--user', 'alice@example.com', ID(2));
  t.same(one, { code: 0, err: '', out: `Revoked ${ID(2)} crl_4fK9mQ2x… "Nightly \\"report\\""\n` });
  const foreign = await keys('revoke', '--user', 'alice@example.com', ID(4));
  t.same(foreign, { code: 1, out: '', err: `alice@example.com has no API key ${ID(4)}.\n` });
  const all = await keys('revoke', '--user', 'alice@example.com', '--all');
  t.equal(all.code, 0);
  t.equal(await db.$count(apiKeys, eq(apiKeys.userId, alice)), 0);
  t.equal(await db.$count(apiKeys), 1, "others' keys stay");
  const entries = await db.select().from(auditLog);
  t.match(entries, Array(3).fill({ kind: 'key.deleted', actorId: null, userId: alice, details: { name: /Nightly/ } }));
});

t.test('Wrong arguments and unknown accounts are one line', async (t) => {
  const wrong: [string[], number, string][] = [
    [['revoke', '--user', 'alice@example.com'], 2, 'Give ids of keys, or --all.\n'],
    [['revoke', '--user', 'alice@example.com', 'crl_1'], 2, 'crl_1 is not the id of a key: see `keys list`.\n'],
    [['list', '--user', 'eve@example.com'], 1, 'No account has the address eve@example.com.\n'],
  ];
  for (const [args, code, err] of wrong) t.same(await keys(...args), { code, out: '', err });
  t.equal((await keys('list')).code, 2);
});
