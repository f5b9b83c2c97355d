import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getTexts } from '@carillon/texts';
import t from 'tap';
import { explainStartFailure } from '../../src/entry/start-failure.ts';
import { loadConfig } from '../../src/lib/config/config.ts';
import { createFileStorage } from '../../src/lib/storage/client.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'carillon-storage-'));
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
const load = (env: Record<string, string>) => loadConfig({ NODE_ENV: 'test', DATA_DIR: dataDir, ...env });
const loadStorage = (env: Record<string, string>) => load(env).storage;
const S3 = { STORAGE_DRIVER: 's3', S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'a', S3_SECRET_ACCESS_KEY: 'b' };

t.test('Files are stored in the database by default', async (t) => {
  t.same(loadStorage({}), { driver: 'base64' });
});

t.test('Files on disk have URLs of the API, or of STORAGE_URL', async (t) => {
  const disk = { STORAGE_DRIVER: 'disk', BASE_URL: 'https://api.example.com' };
  t.match(loadStorage(disk), { url: 'https://api.example.com/files', folder: join(dataDir, 'files') });
  t.match(loadStorage({ ...disk, STORAGE_URL: 'https://cdn.example.com/f/' }), { url: 'https://cdn.example.com/f' });
});

t.test('Files in a bucket have URLs of the bucket, or of STORAGE_URL', async (t) => {
  t.match(loadStorage(S3), { url: 'https://files.s3.us-east-1.amazonaws.com' });
  t.match(loadStorage({ ...S3, S3_REGION: 'eu-west-1' }), { url: 'https://files.s3.eu-west-1.amazonaws.com' });
  t.match(loadStorage({ ...S3, S3_BUCKET: 'a.b' }), { url: 'https://s3.us-east-1.amazonaws.com/a.b' });
  t.match(loadStorage({ ...S3, S3_ENDPOINT: 'http://minio:9000/' }), { url: 'http://minio:9000/files' });
  t.match(loadStorage({ ...S3, STORAGE_URL: 'https://cdn.example.com' }), { url: 'https://cdn.example.com' });
});

t.test('An invalid setting stops the start and is named', async (t) => {
  const wrong: [Record<string, string>, string][] = [
    [{ STORAGE_DRIVER: 'disc' }, 'STORAGE_DRIVER is "disc", but takes base64 or disk or s3.'],
    [{ STORAGE_URL: 'files.example.com' }, 'STORAGE_URL is "files.example.com", but takes a URL that begins with'],
    [{ STORAGE_URL: 'ftp://files.example.com' }, 'STORAGE_URL is "ftp://files.example.com", but takes a URL'],
    [
      { STORAGE_URL: 'https://files.example.com/?a=1' },
      'STORAGE_URL is "https://files.example.com/?a=1", but takes a URL',
    ],
    [{ STORAGE_URL: 'https://files.example.com/#a' }, 'STORAGE_URL is "https://files.example.com/#a", but'],
    [{ S3_ENDPOINT: 'https://key:secret@s3.example.com' }, 'S3_ENDPOINT is "https://…@s3.example.com", but'],
    [{ S3_BUCKET: 'files/a' }, 'S3_BUCKET is "files/a", but takes the name of a bucket.'],
    [{ S3_SECRET_ACCESS_KEY: '' }, 'STORAGE_DRIVER is "s3", which needs S3_SECRET_ACCESS_KEY.'],
  ];
  for (const [env, message] of wrong) {
    t.throws(() => loadStorage({ ...S3, ...env }), { message });
  }
});

t.test('A folder that cannot be written stops the start', async (t) => {
  mkdirSync(join(dataDir, 'taken'));
  for (const name of ['files', 'spool']) writeFileSync(join(dataDir, 'taken', name), '');
  for (const env of [{ STORAGE_DRIVER: 'disk' }, S3]) {
    const config = load({ ...env, DATA_DIR: join(dataDir, 'taken') });
    t.throws(() => createFileStorage(config));
    try {
      createFileStorage(config);
    } catch (error) {
      t.match(
        explainStartFailure(error, config, getTexts('en')),
        'DATA_DIR has to be a folder that this user can write into.',
      );
    }
  }
});
