import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '@carillon/db/test-database';
import type { Test } from 'tap';
import { startAiServer } from '../../../apps/api/test/support/servers/ai-server.ts';
import { startMailServer } from '../../../apps/api/test/support/servers/mail-server.ts';
import { startReplicas } from '../../system/replicas.ts';
import { CERTIFICATE, KEY } from './certificate.ts';
import { startReceiver } from './receiver.ts';

/**
 * Carillon as in `deploy/`: nginx, two API processes and the scheduler in production mode, with rate limits and secrets, and
 * with PostgreSQL, a mail server, an AI provider and a webhook receiver.
 */
export async function installProduction(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-production-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, 'authority.pem'), CERTIFICATE);
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer();
  t.teardown(ai.close);
  const [mail, receiver] = await Promise.all([startMailServer(t), startReceiver(t)]);
  const secret = () => randomBytes(32).toString('base64');
  const jwtSecret = secret();
  const stack = new AsyncDisposableStack();
  t.teardown(() => stack.disposeAsync());
  const replicas = await startReplicas(stack, {
    folder,
    tls: { name: '127.0.0.1', certificate: CERTIFICATE, key: KEY },
    env: (url) => ({
      BASE_URL: url,
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(folder, 'data'),
      STORAGE_DRIVER: 'disk',
      AI_BASE_URL: ai.url,
      AI_API_KEY: secret(),
      SMTP_URL: mail.url,
      MAIL_FROM: 'Carillon <carillon@example.com>',
      EGRESS_ALLOW: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
      JWT_SECRET: jwtSecret,
      ENCRYPTION_KEY: secret(),
      CRON_SECRET: secret(),
      ADMIN_KEY: secret(),
    }),
  });
  // Also when the run is interrupted.
  const end = () => {
    const apis = replicas.apis.map((api) => api.process());
    for (const one of [replicas.nginx.process, ...replicas.schedulers, ...apis]) one.signal('SIGTERM');
  };
  process.once('exit', end);
  stack.defer(() => void process.off('exit', end));
  /** The logs of all processes. */
  const logs = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
  return { ...replicas, db, ai, mail, receiver, jwtSecret, logs };
}
