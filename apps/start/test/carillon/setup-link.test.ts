import { users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { openCarillon } from './run-carillon.ts';

const cwd = t.testdir();
const { db, url: DATABASE_URL } = await testDatabase(t);
const carillon = openCarillon(t);
const env = { DATABASE_URL, DATA_DIR: cwd, APP_URL: 'https://carillon.example.com' };
const setupLink = (more = {}) => carillon(['setup-link'], { ...env, ...more }, { cwd });

t.test('A setup link is printed while there is no account', async (t) => {
  const { code, out } = await setupLink();
  t.match(out, /^https:\/\/carillon\.example\.com\/setup\?token=[\w-]{27}\n$/);
  t.equal(code, 0);
  t.match(await setupLink({ DASHBOARD: 'false' }), { code: 1, out: '', err: /use create-admin/ });
});

t.test('No setup link is printed once there is an account', async (t) => {
  await db.insert(users).values({ identityUserId: 'local:a', email: 'alice@example.com', name: 'Alice' });
  t.match(await setupLink(), { code: 1, out: '', err: /^There is an account already: .*\n$/ });
});
