import { gzipSync } from 'node:zlib';
import t from 'tap';
import { startProbeServer } from '../support/servers/probe-servers.ts';
import { createTestReader } from '../support/sources.ts';

t.test('A page is read as text, and not again while it has not changed', async (t) => {
  const site = await startProbeServer(t, (request, response) => {
    if (request.headers['if-none-match'] === '"1"') return response.writeHead(304).end();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag: '"1"' });
    response.end('<title>Bell</title><nav>Menu</nav><h1>Bell</h1><p>19 €</p><script>x()</script>');
  });
  const reader = createTestReader(t, { site });
  const url = `http://127.0.0.1:${site.port}/`;
  const first = await reader.read({ url });
  t.match(first, {
    status: 'ok',
    httpStatus: 200,
    title: 'Bell',
    text: 'Bell\n\n19 €',
    etag: '"1"',
    lastModified: null,
  });
  t.strictSame(await reader.read({ url }, { etag: '"1"', lastModified: null }), {
    status: 'not_modified',
    httpStatus: 304,
  });
});

t.test('A feed gives its entries', async (t) => {
  const items = Array.from(
    { length: 30 },
    (_, at) =>
      `<item><title>v${at}</title><link>/v${at}</link><guid>g${at}</guid><pubDate>${new Date(at * 86_400_000).toUTCString()}</pubDate><description>&lt;p&gt;Text ${at}&lt;/p&gt;</description></item>`,
  );
  const site = await startProbeServer(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/rss+xml', 'content-encoding': 'gzip' });
    response.end(
      gzipSync(
        `<?xml version="1.0"?><rss version="2.0"><channel><title>Releases</title>${items.join('')}</channel></rss>`,
      ),
    );
  });
  const result = await createTestReader(t, { site }).read({ url: `http://127.0.0.1:${site.port}/` });
  t.match(result, { status: 'ok', title: 'Releases' });
  t.equal(result.status === 'ok' && result.entries?.length, 20);
  t.strictSame(result.status === 'ok' && result.entries?.[0], {
    id: 'g29',
    title: 'v29',
    link: `http://127.0.0.1:${site.port}/v29`,
    date: '1970-01-30T00:00:00.000Z',
    text: 'Text 29',
  });
});
