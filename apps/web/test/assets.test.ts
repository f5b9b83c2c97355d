import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ASSET_URLS } from '@carillon/web/http/assets';
import t from 'tap';
import { testContext } from '../../api/test/support/context.ts';

const { app } = await testContext(t);

t.test('A file has the same content in each encoding, at its first request and later', async (t) => {
  for (const url of Object.values(ASSET_URLS)) {
    if (/\.(woff2|png)$/.test(url)) continue;
    const plain = await app.inject({ url });
    t.match(plain, { statusCode: 200, headers: { 'content-encoding': undefined, vary: /Accept-Encoding/i } }, url);
    for (const attempt of ['first', 'second']) {
      const brotli = await app.inject({ url, headers: { 'accept-encoding': 'gzip, deflate, br' } });
      t.equal(brotli.headers['content-encoding'], 'br');
      t.same(brotliDecompressSync(brotli.rawPayload), plain.rawPayload, `${attempt} request`);
      const gzip = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } });
      t.equal(gzip.headers['content-encoding'], 'gzip');
      t.same(gunzipSync(gzip.rawPayload), plain.rawPayload, `${attempt} request`);
    }
  }
});

t.test('Fonts and icons are sent as they are, and cached for long', async (t) => {
  const { latin, latinExt, icon192 } = ASSET_URLS;
  const sizes = await Promise.all(
    [latin, latinExt, icon192].map(async (url) => {
      const { headers, rawPayload } = await app.inject({ url, headers: { 'accept-encoding': 'br' } });
      t.match(headers, { 'content-encoding': undefined, 'cache-control': /max-age=31536000, immutable/ }, url);
      return rawPayload.length;
    }),
  );
  const [first = 0, second = 0] = sizes;
  t.ok(first + second <= 120_000, `the typeface has ${first + second} bytes`);
});
