import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mails } from '@carillon/db';
import PostalMime from 'postal-mime';
import t from 'tap';
import { queueMail } from '../../src/lib/mail/queue.ts';
import { testContext } from '../support/context.ts';
import { deliverDueMails } from '../support/mails.ts';
import { signUpAlice } from '../support/people.ts';
import { getResetLink } from '../support/servers/mail-server.ts';

const forgot = { method: 'POST', url: '/api/auth/forgot-password', payload: { email: 'alice@example.com' } } as const;

t.test('Without a mail server each mail is a file, and reset links are logged', async (t) => {
  const { app, ctx, logged } = await testContext(t, { env: { APP_URL: 'http://localhost:5173' } });
  await signUpAlice(app);
  await app.inject(forgot);
  await deliverDueMails(ctx);
  const folder = join(ctx.config.dataDir, 'mail');
  const [name = '', ...more] = readdirSync(folder);
  t.same(more, []);
  t.match(name, /^2026-11-20T10-00-00\.000Z-[\w-]+\.eml$/, 'in the order of time');
  t.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  const raw = readFileSync(join(folder, name), 'utf8');
  const mail = await PostalMime.parse(raw);
  t.match(mail, {
    subject: 'Reset your password',
    to: [{ address: 'alice@example.com' }],
    from: { name: 'Carillon' },
  });
  const link = getResetLink(mail);
  t.match(link, /^http:\/\/localhost:5173\/handler\/reset-password\/[0-9a-f]{64}$/);
  t.match(raw, `\r\n${link}\r\n`, 'in one piece');
  t.same(
    logged.filter((line) => JSON.stringify(line).includes(link)).map(({ level, link }) => [level, link]),
    [[30, link]],
  );
});

t.test('Only reset links are logged', async (t) => {
  const { ctx, logged } = await testContext(t);
  await queueMail(ctx, { to: 'alice@example.com', subject: 'The news', text: 'See https://example.com/secret' });
  await deliverDueMails(ctx);
  t.notMatch(JSON.stringify(logged), 'example.com/secret');
});

t.test('A mail that cannot be written to its folder is retried', async (t) => {
  const { ctx } = await testContext(t);
  writeFileSync(join(ctx.config.dataDir, 'mail'), 'a file is in the way');
  await queueMail(ctx, { to: 'alice@example.com', subject: 'The news', text: 'Nothing happened.' });
  await deliverDueMails(ctx);
  t.match(await ctx.db.select().from(mails), [{ failedAt: null, error: /EEXIST|ENOTDIR/ }]);
});
