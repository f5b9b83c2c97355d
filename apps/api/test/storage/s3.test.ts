import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parse } from 'content-disposition';
import t from 'tap';
import { type Config, loadConfig } from '../../src/lib/config/config.ts';
import { createFileStorage } from '../../src/lib/storage/client.ts';
import { createS3Objects } from '../../src/lib/storage/s3.ts';
import { startS3 } from '../support/servers/s3-server.ts';

const s3 = await startS3(t);
const dataDir = mkdtempSync(join(tmpdir(), 'carillon-s3-files-'));
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
type Settings = Extract<Config['storage'], { driver: 's3' }>;
const configOf = (env: Record<string, string> = {}) =>
  loadConfig({ NODE_ENV: 'test', DATA_DIR: dataDir, ...s3.env, ...env });
const ABOUT = { name: 'a.txt', type: 'text/plain' };
const HASTY = { connectMs: 1000, idleMs: 150, responseMs: 600 };
const files = createFileStorage(configOf());
const hasty = createS3Objects(configOf().storage as Settings, HASTY);
t.teardown(() => Promise.all([files.close(), hasty.close()]));
t.beforeEach(() => {
  s3.answer('serve');
  s3.requests.length = 0;
});

t.test('An object is sent in one request, as every S3 service understands it', async (t) => {
  const bytes = randomBytes(6 * 1024 * 1024);
  await files.store('one-piece', Readable.from([bytes]), { name: 'Żółw "1".png', type: 'image/png' });
  t.equal(s3.requests.length, 1);
  const [{ method, path, headers } = { method: '', path: '', headers: {} }] = s3.requests;
  t.equal(method, 'PUT');
  t.match(path, /^\/carillon-files\/one-piece(\?|$)/, 'the bucket is in the path');
  t.equal(headers['content-length'], String(bytes.length));
  t.equal(headers['content-md5'], createHash('md5').update(bytes).digest('base64'), 'so that the storage can check it');
  t.match(headers.authorization, /^AWS4-HMAC-SHA256 .*content-md5/);
  const names = Object.keys(headers);
  for (const name of ['content-encoding', 'x-amz-trailer', 'expect', 'transfer-encoding', 'x-amz-acl'])
    t.notOk(names.includes(name), name);
  t.same(
    names.filter((name) => name.includes('checksum')),
    [],
  );
});

t.test('An object is served at its URL, as a download with its name and type', async (t) => {
  const name = 'Żółw; "1".png';
  const url = await files.store(randomUUID(), Readable.from([Buffer.from('x')]), { name, type: 'image/png' });
  t.ok(url.startsWith(`${s3.env.S3_ENDPOINT}/carillon-files/`));
  const answer = await fetch(url);
  t.equal(await answer.text(), 'x');
  t.equal(answer.headers.get('content-type'), 'image/png');
  t.match(parse(answer.headers.get('content-disposition') ?? ''), {
    type: 'attachment',
    parameters: { filename: name },
  });
});

t.test('Every name gives a valid header', async (t) => {
  for (const name of ['a\r\nx-evil: 1', 'a\0b', '\ud800', '"\\', '', 'é'.repeat(255)]) {
    await files.store(randomUUID(), Readable.from(['x']), { name, type: 'text/plain' });
    t.notOk('x-evil' in (s3.requests.at(-1)?.headers ?? {}), JSON.stringify(name));
  }
});

t.test('A wrong access key rejects at once, unlike a missing file', async (t) => {
  const denied = createFileStorage(configOf({ S3_SECRET_ACCESS_KEY: 'wrong' }));
  await t.rejects(denied.store('x', Readable.from(['x']), ABOUT), { cause: { name: 'SignatureDoesNotMatch' } });
  await t.rejects(denied.open('x'), { cause: { name: 'SignatureDoesNotMatch' } });
  await t.rejects(denied.remove('x'), { cause: { name: 'SignatureDoesNotMatch' } });
  t.equal(s3.requests.length, 3, 'none was repeated');
  await denied.close();
});

t.test('A missing bucket rejects, unlike a missing file', async (t) => {
  const nowhere = createFileStorage(configOf({ S3_BUCKET: 'nowhere' }));
  await t.rejects(nowhere.store('x', Readable.from(['x']), ABOUT));
  await t.rejects(nowhere.open('x'), { cause: { name: 'NoSuchBucket' } });
  await t.rejects(nowhere.remove('x'));
  await nowhere.close();
});

t.test('A request that fails once is repeated with all bytes, and rejects if it fails again', async (t) => {
  for (const trouble of ['cut', 503, 500] as const) {
    s3.answer(trouble, 'serve');
    const key = randomUUID();
    await files.store(key, Readable.from(['all', ' of it']), ABOUT);
    s3.answer(trouble, 'serve');
    t.equal(await text((await files.open(key)) ?? Readable.from([])), 'all of it', String(trouble));
    s3.answer(trouble, 'serve');
    await files.remove(key);
    s3.answer(trouble);
    s3.requests.length = 0;
    await t.rejects(files.store(key, Readable.from(['x']), ABOUT));
    t.equal(s3.requests.length, 2);
    await t.rejects(files.open(key));
    await t.rejects(files.remove(key));
  }
});

t.test('A storage that does not answer runs into the timeout', async (t) => {
  s3.answer('hang');
  const large = Readable.from([randomBytes(9 * 1024 * 1024)]);
  await t.rejects(hasty.store('x', large, ABOUT), 'nor one that does not even read');
  await t.rejects(hasty.open('x'));
  await t.rejects(hasty.remove('x'));
  s3.answer('stall');
  await t.rejects(text((await hasty.open('x')) ?? Readable.from([])), 'nor one that stops in the middle');
});

t.test('A storage that drips a file runs into the timeout', async (t) => {
  const quick = createFileStorage(configOf(), { readMs: 200 });
  s3.answer('drip');
  await t.rejects(quick.read({ storageKey: 'x', url: 'https://files.example.com/x' }), { name: 'AbortError' });
  await quick.close();
});

t.test('A storage that is unreachable rejects, and serves again when it is back', async (t) => {
  await files.store('lasting', Readable.from(['x']), ABOUT);
  await s3.stop();
  await t.rejects(files.store('y', Readable.from(['y']), ABOUT));
  await t.rejects(files.read({ storageKey: 'lasting', url: '' }));
  await t.rejects(files.remove('lasting'));
  await s3.start();
  t.equal(String(await files.read({ storageKey: 'lasting', url: '' })), 'x');
});

t.test('Nothing of these tests stays on disk', async (t) => {
  t.same(readdirSync(join(dataDir, 'spool')), []);
});
