import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { CHANNEL_KINDS } from '@carillon/contract/channels/channels';
import t from 'tap';
import { CHANNEL_SENDERS } from '../../../../src/product/deliveries/messages/kinds/index.ts';
import { testContext } from '../../../support/context.ts';
import { signUp } from '../../../support/people.ts';

/** Repeats the request in every form in which a target reports an error. */
const server = createServer(async (request, response) => {
  const said = `${request.url} ${JSON.stringify(request.headers)} ${await text(request)}`;
  const isJson = request.url?.includes('plain') !== true;
  response.writeHead(Number(request.headers['x-status'] ?? 400), { 'x-said': 'x' });
  response.end(
    isJson ? JSON.stringify({ ok: false, error_code: 400, description: said, message: said, error: said }) : said,
  );
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { app, ctx, logged } = await testContext(t, { env: { TELEGRAM_API_URL: url, LOG_LEVEL: 'trace' } });

const SECRET = 'Zq8xSecretSecretSecret42';
const SETTINGS: Partial<Record<(typeof CHANNEL_KINDS)[number], object[]>> = {
  slack: [{ url: `${url}/services/T000/B000/${SECRET}` }],
  mattermost: [{ url: `${url}/hooks/${SECRET}` }],
  teams: [
    { url: `${url}/workflows/abc/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers&sv=1.0&sig=${SECRET}` },
  ],
  discord: [{ url: `${url}/api/webhooks/123456789012345678/${SECRET}` }],
  telegram: [{ botToken: `110201543:AAHdqTcv_${SECRET}`, chatId: '42' }],
  ntfy: [{ url, topic: 'prices', token: `tk_${SECRET}` }],
  apprise: [
    { url, urls: [`json://user:${SECRET}@example.com/a`, `mailto://u:${SECRET}@example.com`] },
    { url, key: `home-${SECRET}` },
    { url: `${url}/plain`, key: `home-${SECRET}` },
  ],
};

t.test('The secrets of channels are in no answer, error, log line or row', async (t) => {
  const { headers } = await signUp(app);
  const call = (method: 'GET' | 'POST', path: string, payload?: object) =>
    app.inject({ method, url: `/api/channels${path}`, headers, ...(payload && { payload }) });
  for (const [kind, all] of Object.entries(SETTINGS)) {
    if (!CHANNEL_SENDERS[kind as keyof typeof SETTINGS]) continue;
    for (const settings of all) {
      const created = await call('POST', '', { kind, name: kind, ...settings });
      t.equal(created.statusCode, 201, `${kind}: ${created.body}`);
      const { id } = created.json().channel;
      const tested = await call('POST', `/${id}/test`, {});
      t.match(tested.json(), { success: false, delivery: { statusCode: 400 } }, kind);
      const answers = [
        created,
        tested,
        await call('GET', `/${id}`),
        await call('GET', `/${id}/logs`),
        await call('GET', ''),
      ];
      for (const { body } of answers) t.notMatch(body, SECRET, kind);
    }
  }
  t.notMatch(JSON.stringify(logged), SECRET, 'log');
  for (const table of ['endpoints', 'delivery_attempts', 'deliveries', 'audit_log', 'events']) {
    const rows = await ctx.db.execute(`select coalesce(json_agg(x), '[]')::text as all from ${table} x`);
    t.notMatch(JSON.stringify(rows), SECRET, table);
  }
});
