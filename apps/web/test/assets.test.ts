import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ASSET_URLS } from '@carillon/web/http/assets';
import t from 'tap';
import { testContext } from '../../api/test/support/context.ts';

const { app } = await testContext(t);

t.test('A file has the same content in each encoding, at its first request and later', async (t) => {
  for (const url of Object.values(ASSET_URLS)) {
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
