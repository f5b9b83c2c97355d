import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { uploads } from '@carillon/db';
import { parse } from 'content-disposition';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

const { app, ctx } = await testContext(t, { env: { STORAGE_DRIVER: 'disk', BASE_URL: 'https://api.example.com' } });
const alice = await signUpAlice(app);
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;

async function store(bytes: Buffer, about: { name: string; type: string }) {
  const storageKey = randomUUID();
  const url = await ctx.files.store(storageKey, Readable.from([bytes]), about);
  const id = randomUUID();
  const row = { id, userId: alice.id, ...about, size: bytes.length, storage: 'blob', storageKey, url } as const;
  await ctx.db.insert(uploads).values({ ...row, uploadedAt: ctx.now() });
  return row;
}

t.test('A file is served to anyone with its URL, as a download that runs nothing', async (t) => {
  const bytes = randomBytes(300_000);
  const { url, storageKey } = await store(bytes, { name: 'a.png', type: 'image/png' });
  t.equal(url, `https://api.example.com/files/${storageKey}`);
  const answer = await app.inject(new URL(url).pathname);
  t.equal(answer.statusCode, 200);
  t.ok(answer.rawPayload.equals(bytes));
  t.match(answer.headers, {
    'content-type': /^image\/png$/,
    'content-length': String(bytes.length),
    'x-content-type-options': 'nosniff',
    'content-disposition': 'attachment; filename=a.png',
    'content-security-policy': /default-src 'none'.*sandbox/,
    'cache-control': 'private, max-age=86400, immutable',
    'cross-origin-resource-policy': 'cross-origin',
  });
  t.notOk('set-cookie' in answer.headers);
});

t.test('A file has the type of its record, and any name gives a download', async (t) => {
  for (const name of ['Żółw.txt', '日本語 "1".txt', "a'b;c=d.txt", '100%.txt', '\u{1f600}.txt', 'é'.repeat(255)]) {
    const { storageKey } = await store(Buffer.from('x'), { name, type: 'text/markdown' });
    const { headers, statusCode } = await app.inject(`/files/${storageKey}`);
    t.equal(statusCode, 200);
    t.equal(headers['content-type'], 'text/markdown');
    t.same({ ...parse(String(headers['content-disposition'])).parameters }.filename, name);
  }
  const { storageKey } = await store(Buffer.from('x'), { name: 'a\r\nx-evil: 1', type: 'text/plain' });
  const { headers } = await app.inject(`/files/${storageKey}`);
  t.notOk('x-evil' in headers);
  t.match(headers['content-disposition'], /^attachment; filename="a__x-evil: 1"$/);
});

t.test('An empty file is served', async (t) => {
  const { storageKey } = await store(Buffer.alloc(0), { name: 'a.txt', type: 'text/plain' });
  const answer = await app.inject(`/files/${storageKey}`);
  t.match(answer, { statusCode: 200, body: '', headers: { 'content-length': '0' } });
});

t.test('An object without an upload is not found, although the file is on disk', async (t) => {
  const folder = join(ctx.config.dataDir, 'files');
  writeFileSync(join(folder, 'loose'), 'being uploaded');
  writeFileSync(join(ctx.config.dataDir, 'secret'), 'of the process');
  const paths = ['loose', 'unknown', '', '..%2f', '..%2fsecret', '%2e%2e%2fsecret', '..%5csecret', '%00', 'a%0d%0ab'];
  for (const path of [...paths, '..%252fsecret', '%2fetc%2fpasswd', '%ff', 'x'.repeat(128), 'x'.repeat(5000)]) {
    const answer = await app.inject(`/files/${path}`);
    t.match(answer.json(), { success: false });
    t.ok([400, 404].includes(answer.statusCode), `${path.slice(0, 20)} ${answer.statusCode}`);
    t.equal(answer.headers['cache-control'], 'no-store');
  }
  // As sent on the wire: a client would remove the dots from the path.
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /files/../secret HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  t.match(await text(socket), /^HTTP\/1.1 404 /);
  t.equal((await app.inject({ method: 'HEAD', url: '/files/loose' })).statusCode, 404);
});

t.test('A record without bytes is not found', async (t) => {
  const { storageKey } = await store(Buffer.from('x'), { name: 'a.txt', type: 'text/plain' });
  await ctx.files.remove(storageKey);
  t.match((await app.inject(`/files/${storageKey}`)).json(), { success: false, error: 'File not found' });
});

t.test('A client that disconnects leaves no file open', async (t) => {
  const { storageKey } = await store(randomBytes(32 * 1024 * 1024), { name: 'a.png', type: 'image/png' });
  const { files } = ctx;
  t.teardown(() => {
    ctx.files = files;
  });
  const opened = Promise.withResolvers<Readable>();
  const open = async (key: string) => {
    const bytes = await files.open(key);
    if (bytes) opened.resolve(bytes);
    return bytes;
  };
  ctx.files = { ...files, open };
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET /files/${storageKey} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, 'data');
  const bytes = await opened.promise;
  const closed = once(bytes, 'close');
  socket.destroy();
  await closed;
  t.notOk(bytes.readableEnded, 'it was not read to its end');
});

t.test('The route exists only if files are on disk', async (t) => {
  const { app } = await testContext(t);
  t.match((await app.inject('/files/x')).json(), { error: 'Not found', message: 'This endpoint does not exist.' });
});
