import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { loadConfig } from '@carillon/api/lib/config/config';
import { Carillon } from '@carillon/client/source';
import { testDatabase } from '@carillon/db/test-database';
import type { Test } from 'tap';
import { startCarillon } from '../../../apps/start/src/start.ts';

/** Serves the project, with a page that knows where the package is. */
export async function servePages(t: Test, project: string): Promise<string> {
  const imports = { '@carillon/client': '/node_modules/@carillon/client/dist/index.js' };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const server = createServer(({ url = '' }, response) => {
    if (url === '/index.html') return response.setHeader('content-type', 'text/html').end(page);
    if (!url.endsWith('.js')) return response.writeHead(404).end();
    return response.setHeader('content-type', 'text/javascript').end(readFileSync(join(project, url)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts Carillon, which browsers may call from `origin`, and returns its URL. */
export async function startService(t: Test, { folder, origin }: { folder: string; origin: string }): Promise<string> {
  const { url: DATABASE_URL } = await testDatabase(t);
  const config = loadConfig({
    DATABASE_URL,
    PORT: '0',
    DATA_DIR: folder,
    AI_BASE_URL: 'offline',
    LOG_LEVEL: 'silent',
    CORS_ORIGINS: origin,
    RATE_LIMIT_MULTIPLIER: '100',
  });
  const { url, close } = await startCarillon(config, 1000);
  t.teardown(close);
  return url;
}

/** Registers an account and returns a token of it. */
export async function signIn(baseUrl: string, name: string): Promise<string> {
  const credentials = { email: `${name}@example.com`, password: 'correct-Horse-7' };
  const carillon = new Carillon({ baseUrl });
  await carillon.auth.register({ name, ...credentials });
  const { token = '' } = await carillon.auth.login(credentials);
  return token;
}
