import t from 'tap';
import {
  countConnectionAttempts,
  createFakeLookup,
  startProbeServer,
  startRawProbeServer,
} from '../support/servers/probe-servers.ts';
import { createTestReader, UNREACHABLE_MS } from '../support/sources.ts';

const MESSAGE = 'The source could not be reached: its host or certificate is wrong, it is down, or it is not public.';
const unreachable = { status: 'failed', httpStatus: null, message: MESSAGE };

t.test('A refused, a closed and an unknown address read alike, and take the same time', async (t) => {
  const canary = await startProbeServer(t, (_, response) => response.end('inside'));
  const ssh = await startRawProbeServer(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const reset = await startRawProbeServer(t, (socket) => socket.resetAndDestroy());
  const closed = { port: 1 };
  const { lookup } = createFakeLookup({ 'inside.test': ['10.0.0.1'], 'mixed.test': ['8.8.8.8', '127.0.0.1'] });
  const ports = [ssh, reset, closed].map(({ port }) => `127.0.0.1/32:${port}`).join(',');
  const reader = createTestReader(t, { env: { SOURCES_ALLOW: ports, EGRESS_ALLOW: '0.0.0.0/0' }, lookup });
  const urls = [
    `http://127.0.0.1:${canary.port}/`,
    `http://localhost:${canary.port}/`,
    `http://[::1]:${canary.port}/`,
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'https://2130706433/',
    'http://inside.test/',
    'http://mixed.test/',
    'http://unknown.test/',
    'http://a..b/',
    `http://127.0.0.1:${closed.port}/`,
    `https://127.0.0.1:${ssh.port}/`,
    `http://127.0.0.1:${ssh.port}/`,
    `http://127.0.0.1:${reset.port}/`,
  ];
  const times = await Promise.all(
    urls.map(async (url) => {
      const start = performance.now();
      t.strictSame(await reader.read({ url }), unreachable, url);
      return performance.now() - start;
    }),
  );
  t.ok(Math.min(...times) >= UNREACHABLE_MS - 2, `the fastest took ${Math.min(...times)} ms`);
  t.equal(canary.connections, 0);
});

t.test('No list allows metadata, link-local addresses and the service itself', async (t) => {
  const attempts = countConnectionAttempts(t);
  const reader = createTestReader(t, { env: { SOURCES_ALLOW: '0.0.0.0/0,::/0', PORT: '4100' } });
  const hosts = ['169.254.169.254', '100.100.100.200', '[fd00:ec2::254]', '[fe80::1]', '[::ffff:169.254.169.254]'];
  for (const host of [...hosts, '127.0.0.1:4100', 'localhost:4100']) {
    t.strictSame(await reader.read({ url: `http://${host}/` }), unreachable, host);
  }
  t.equal(attempts.count, 0);
});

t.test('Each hop of a redirect is checked, and the answer does not tell where it led', async (t) => {
  const canary = await startProbeServer(t, (_, response) => response.end('inside'));
  const places = [
    `http://127.0.0.1:${canary.port}/`,
    `//localhost:${canary.port}/`,
    'http://169.254.169.254/',
    'http://[::1]/',
    'http://unknown.test/',
    'file:///etc/passwd',
    'http://user:password@127.0.0.1/',
    'https://127.0.0.1:1/',
  ];
  const site = await startProbeServer(t, ({ url }, response) => {
    response.writeHead(302, { location: places[Number(url?.slice(1))] }).end();
  });
  const { lookup } = createFakeLookup({});
  const reader = createTestReader(t, { site, lookup });
  for (const [at, place] of places.entries()) {
    const start = performance.now();
    t.strictSame(await reader.read({ url: `http://127.0.0.1:${site.port}/${at}` }), unreachable, place);
    t.ok(performance.now() - start >= UNREACHABLE_MS - 2, place);
  }
  t.equal(canary.connections, 0);
});

t.test('Five redirects are followed, and a sixth one is not', async (t) => {
  const site = await startProbeServer(t, ({ url }, response) => {
    const left = Number(url?.slice(1));
    if (left === 0) return response.writeHead(200, { 'content-type': 'text/plain' }).end('here');
    response.writeHead([301, 302, 303, 307, 308][left % 5] ?? 302, { location: `/${left - 1}` }).end('a body');
  });
  const reader = createTestReader(t, { site });
  t.match(await reader.read({ url: `http://127.0.0.1:${site.port}/5` }), { status: 'ok', text: 'here' });
  t.match(await reader.read({ url: `http://127.0.0.1:${site.port}/6` }), {
    status: 'failed',
    message: 'The source redirects more than 5 times.',
  });
});

t.test('A name that resolves to a private address at its next look is refused', async (t) => {
  const site = await startProbeServer(t, (_, response) => response.writeHead(200, { connection: 'close' }).end('out'));
  const canary = await startProbeServer(t, (_, response) => response.end('inside'), '127.0.0.2', site.port);
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.2']];
  const reader = createTestReader(t, { site, lookup: async () => answers.shift() ?? ['127.0.0.2'] });
  const url = `http://rebinding.test:${site.port}/`;
  t.match(await reader.read({ url }), { status: 'ok', text: 'out' });
  for (let look = 0; look < 3; look += 1) t.strictSame(await reader.read({ url }), unreachable);
  t.equal(canary.connections, 0);
});

t.test('In production, sources are read over http and https at their usual ports', async (t) => {
  const attempts = countConnectionAttempts(t);
  const { lookup, asked } = createFakeLookup({});
  const reader = createTestReader(t, { env: { NODE_ENV: 'production' }, lookup });
  for (const port of ['', ':80', ':443', ':8080', ':8443'])
    await reader.read({ url: `http://a${port.slice(1)}.test${port}/` });
  t.equal(asked.length, 5);
  for (const port of [22, 25, 3306, 6379])
    t.strictSame(await reader.read({ url: `http://b.test:${port}/` }), unreachable);
  t.equal(asked.length, 5);
  t.equal(attempts.count, 0);
});

const header = { name: 'X-Key', value: 'Hidden1234567' };

t.test('A secret goes to its host and port only', async (t) => {
  const seen: [string, unknown][] = [];
  const other = await startProbeServer(t, ({ url, headers }, response) => {
    seen.push([`other ${url}`, headers['x-key']]);
    response.end('other');
  });
  const site = await startProbeServer(t, ({ url, headers }, response) => {
    seen.push([`site ${url}`, headers['x-key']]);
    const places: Record<string, string> = {
      '/other': `http://127.0.0.1:${other.port}/`,
      '/name': `http://localhost:${site.port}/end`,
      '/same': '/end',
    };
    const location = places[url ?? ''];
    if (location !== undefined) return response.writeHead(307, { location }).end();
    response.end('site');
  });
  const ports = [site, other].map(({ port }) => `127.0.0.1/32:${port},::1/128:${port}`).join(',');
  const reader = createTestReader(t, { env: { SOURCES_ALLOW: ports } });
  for (const path of ['same', 'other', 'name']) {
    t.match(await reader.read({ url: `http://127.0.0.1:${site.port}/${path}`, header }), { status: 'ok' }, path);
  }
  t.strictSame(seen, [
    ['site /same', header.value],
    ['site /end', header.value],
    ['site /other', header.value],
    ['other /', undefined],
    ['site /name', header.value],
    ['site /end', undefined],
  ]);
});

t.test('A secret is not sent over http to a public address, whatever the name resolves to', async (t) => {
  const attempts = countConnectionAttempts(t);
  const { lookup } = createFakeLookup({ 'public.test': ['8.8.8.8'], 'mixed.test': ['127.0.0.1', '8.8.8.8'] });
  const reader = createTestReader(t, { env: { SOURCES_ALLOW: '127.0.0.0/8' }, lookup });
  for (const host of ['public.test', 'mixed.test', '8.8.8.8']) {
    t.strictSame(await reader.read({ url: `http://${host}/`, header }), {
      ...unreachable,
      message: `${MESSAGE} A secret needs https, or an address that the operator allows.`,
    });
  }
  t.equal(attempts.count, 0);
});

t.test('Where a page repeats a secret, in any part of the answer, it is masked', async (t) => {
  const value = 'Basic dXNlcjpIaWRkZW4xMjM0NTY3';
  const password = 'Hidden1234567';
  const forms = [value, password, `user:${password}`, 'dXNlcjpIaWRkZW4xMjM0NTY3', encodeURIComponent(value)];
  const pages: Record<string, [type: string, body: string]> = {
    '/html': [
      'text/html',
      `<title>${value}</title><p>${forms.join('</p><p>')}</p><p>Hid<b>den</b>1234567 &#72;idden1234567</p>`,
    ],
    '/json': ['application/json', JSON.stringify({ forms })],
    '/feed': [
      'application/rss+xml',
      `<rss><channel><title>${password}</title><item><guid>${password}</guid><link>https://a.example/?k=${password}</link><title>${password}</title><description>${value}</description></item></channel></rss>`,
    ],
  };
  const site = await startProbeServer(t, ({ url }, response) => {
    const [type, body] = pages[url ?? ''] ?? [];
    response
      .writeHead(200, { 'content-type': `${type}; x=1`, etag: `"${password}"`, 'last-modified': value })
      .end(body);
  });
  const reader = createTestReader(t, { site });
  const given = { name: 'Authorization', value };
  for (const path of Object.keys(pages)) {
    const result = await reader.read({ url: `http://127.0.0.1:${site.port}${path}`, header: given });
    t.match(result, { status: 'ok', etag: null, lastModified: null, text: /\[secret\]/ });
    const text = JSON.stringify(result);
    for (const form of forms) t.notOk(text.includes(form), `${path}: ${form}`);
  }
});
