import { randomBytes } from 'node:crypto';
import { columnAad, encrypt } from '@carillon/api/lib/crypto/encryption';
import { users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { openCarillon, runCarillon } from './run-carillon.ts';

const [old, fresh] = ['2025', '2026'].map((id) => ({ id, key: randomBytes(32) })) as [Key, Key];

interface Key {
  id: string;
  key: Buffer;
}

const { db, url } = await testDatabase(t);
const account = { identityUserId: 'local:a', email: 'alice@example.com', name: 'Alice' };
const [alice] = await db.insert(users).values(account).returning({ id: users.id });
const id = alice?.id ?? 0;
const aad = columnAad('users.provider_key_encrypted', id);
const sealed = encrypt([old], 'sk-of-alice', aad);
await db.update(users).set({ providerKeyEncrypted: sealed }).where(eq(users.id, id));

const cwd = t.testdir();
const runNext = openCarillon(t);
function rotate(keys: Key[], { DATABASE_URL = url, run = runNext } = {}) {
  const ENCRYPTION_KEY = keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');
  return run(['secrets', 'rotate'], { DATA_DIR: cwd, DATABASE_URL, ENCRYPTION_KEY }, { cwd });
}

t.test('The command counts the secrets it encrypts again, and says when the old keys can be removed', async (t) => {
  const { code, out, err } = await rotate([fresh, old], { run: runCarillon });
  t.equal(err, '');
  t.equal(code, 0);
  t.equal(
    out,
    [
      'users.provider_key_encrypted: 1 encrypted again with the key "2026"',
      'endpoints.secret_encrypted: 0 encrypted again with the key "2026"',
      'endpoints.previous_secret_encrypted: 0 encrypted again with the key "2026"',
      'mails.body_encrypted: 0 encrypted again with the key "2026"',
      'idempotency_keys.answer_encrypted: 0 encrypted again with the key "2026"',
      'providers.api_key_encrypted: 0 encrypted again with the key "2026"',
      'factors.secret_encrypted: 0 encrypted again with the key "2026"',
      'task_sources.text_encrypted: 0 encrypted again with the key "2026"',
      'secrets.value_encrypted: 0 encrypted again with the key "2026"',
      'Every secret is encrypted with the key "2026". Other keys can be removed from ENCRYPTION_KEY.\n',
    ].join('\n'),
  );
});

t.test('A secret whose key is not listed is reported without its value, and exits with 1', async (t) => {
  const { code, err } = await rotate([old]);
  t.equal(code, 1);
  t.match(err, `${aad} is encrypted with key "2026", which ENCRYPTION_KEY does not list.`);
  t.match(err, 'Secrets that no key of ENCRYPTION_KEY decrypts: 1.');
  t.notMatch(err, 'sk-of-alice');
});

t.test('An unreachable database is reported in one line and exits with 2', async (t) => {
  const { code, err } = await rotate([fresh, old], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
  t.equal(code, 2);
  t.match(err, /^\S[^\n]+\n$/);
});
