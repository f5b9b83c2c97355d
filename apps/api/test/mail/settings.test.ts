import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { PRODUCTION_ENV } from '../support/production.ts';

const { SMTP_URL: _, ...REST } = PRODUCTION_ENV;
const SETTINGS = { ...REST, APP_URL: 'https://bells.example.com', DATABASE_URL: 'postgres://127.0.0.1/x' };

t.test('Production requires a mail server', async (t) => {
  t.throws(() => loadConfig(SETTINGS), {
    message: 'Production needs SMTP_URL: the URL of a mail server, such as smtps://user:password@host.',
  });
  const { mail } = loadConfig({ ...SETTINGS, SMTP_URL: 'smtps://mail.example.com' });
  t.match(mail, { smtpUrl: 'smtps://mail.example.com', from: 'Carillon <no-reply@bells.example.com>' });
});

t.test('An invalid SMTP_URL is reported without its password', async (t) => {
  t.throws(() => loadConfig({ ...SETTINGS, SMTP_URL: 'http://bells:s3cr/et@x@mail.example.com' }), {
    message: 'SMTP_URL is "http://…@mail.example.com", but takes a URL that begins with smtp:// or smtps://.',
  });
});

t.test('A sender is one address, with or without a name', async (t) => {
  const from = (MAIL_FROM: string) => loadConfig({ ...SETTINGS, SMTP_URL: 'smtp://x', MAIL_FROM }).mail.from;
  for (const good of ['bells@example.com', 'Carillon <bells@example.com>', 'Sinos São João <bells@example.com>']) {
    t.equal(from(good), good);
  }
  for (const bad of [
    'bells',
    'Carillon <bells>',
    'a@example.com, b@example.com',
    'Carillon <a@example.com> <b@example.com>',
    'Carillon\r\nBcc: eve@example.com <a@example.com>',
    'a@example.com\nBcc: eve@example.com',
  ]) {
    t.throws(() => from(bad), { message: /^MAIL_FROM is / }, bad);
  }
});
