import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VERSION } from '@carillon/api/lib/config/config';
import { connect } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { SMTPServer } from 'smtp-server';
import { PRODUCTION_ENV } from '../../../api/test/support/production.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';

interface Test {
  teardown(work: () => unknown): unknown;
  testdir(): string;
}

export const AI_KEY = 'the-right-key';
export const MAIL_PASSWORD = 'the-right-password';

/** The parts of a healthy production installation, and its settings. */
export async function startHealthyInstallation(t: Test, dataDir: string) {
  const { url, db } = await testDatabase(t as { teardown(work: () => Promise<void>): unknown });
  // Counts as an API process.
  const api = connect(url);
  await api.db.execute('select 1');
  t.teardown(api.close);
  const ai = await startAiServer({ apiKey: AI_KEY });
  t.teardown(() => ai.close());
  const mail = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 1,
    onAuth: ({ password }, _session, done) =>
      password === MAIL_PASSWORD ? done(null, { user: 'carillon' }) : done(new Error('Wrong password')),
  });
  mail.on('error', () => {});
  const mailPort = await readPort(mail.listen(0, '127.0.0.1'));
  t.teardown(() => new Promise<void>((resolve) => mail.close(resolve)));
  let health: object = { status: 'ok', version: VERSION };
  const proxy = createServer((_request, response) => response.end(JSON.stringify(health))).listen(0, '127.0.0.1');
  const proxyPort = await readPort(proxy);
  t.teardown(() => proxy.close());
  const env: Record<string, string> = {
    ...PRODUCTION_ENV,
    DATA_DIR: dataDir,
    DATABASE_URL: url,
    BASE_URL: `http://127.0.0.1:${proxyPort}`,
    AI_BASE_URL: ai.url,
    AI_API_KEY: AI_KEY,
    AI_TIMEOUT_MS: '20000',
    SMTP_URL: `smtp://carillon:${MAIL_PASSWORD}@127.0.0.1:${mailPort}`,
  };
  return {
    env,
    db,
    ai,
    mailPort,
    answerHealth: (to: object) => {
      health = to;
    },
  };
}

async function readPort(server: { once(event: 'listening', done: () => void): unknown; address(): unknown }) {
  if (!server.address()) await new Promise<void>((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}
