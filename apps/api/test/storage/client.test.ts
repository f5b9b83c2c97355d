import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { createFileStorage } from '../../src/lib/storage/client.ts';
import { startS3 } from '../support/servers/s3-server.ts';

const s3 = await startS3(t);
const DRIVERS = { base64: {}, disk: {}, s3: s3.env };
const ABOUT = { name: 'a.png', type: 'image/png' };
const bytesOf = (...chunks: (string | Buffer)[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

for (const [driver, env] of Object.entries(DRIVERS)) {
  t.test(`Files with ${driver}`, async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'carillon-files-'));
    const settings = { NODE_ENV: 'test', DATA_DIR: dataDir, ...env, STORAGE_DRIVER: driver };
    const files = createFileStorage(loadConfig(settings));
    t.teardown(async () => {
      await files.close();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const isBlob = driver !== 'base64';
    const rowOf = (key: string, url: string) => ({ storageKey: isBlob ? key : null, url });

    t.test('A record has storage blob for objects and base64 for data URLs', async (t) => {
      t.equal(files.storage, isBlob ? 'blob' : 'base64');
    });

    t.test('A file of any size and in any chunks is read back byte for byte', async (t) => {
      const large = randomBytes(3 * 1024 * 1024 + 7);
      for (const chunks of [['one'], ['on', 'e', ''], [], [large], [large, large.subarray(1)]]) {
        const key = `${randomUUID()}.png`;
        const url = await files.store(key, bytesOf(...chunks), ABOUT);
        const whole = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
        t.ok((await files.read(rowOf(key, url)))?.equals(whole), `${whole.length} bytes`);
        const opened = await files.open(key);
        t.equal(opened !== null, isBlob);
        if (opened) t.ok((await buffer(opened)).equals(whole));
      }
    });

    t.test('Concurrent files do not mix', async (t) => {
      const contents = Array.from({ length: 10 }, () => randomBytes(100_000));
      const stored = contents.map(async (content) => {
        const key = randomUUID();
        return rowOf(
          key,
          await files.store(key, bytesOf(content.subarray(0, 40_000), content.subarray(40_000)), ABOUT),
        );
      });
      for (const [i, file] of (await Promise.all(stored)).entries()) {
        t.ok((await files.read(file))?.equals(contents[i] as Buffer));
      }
    });

    t.test('A removed object no longer exists, and may be removed again', async (t) => {
      const key = randomUUID();
      const url = await files.store(key, bytesOf('x'), ABOUT);
      await files.remove(key);
      await files.remove(key);
      t.equal(await files.open(key), null);
      if (isBlob) t.equal(await files.read(rowOf(key, url)), null);
    });

    t.test('A key that was never stored does not exist', async (t) => {
      t.equal(await files.open('unknown'), null);
      t.equal(await files.read({ storageKey: 'unknown', url: 'https://files.example.com/unknown' }), null);
      await files.remove('unknown');
    });

    t.test('A data URL can be read after the storage was changed', async (t) => {
      t.equal(String(await files.read({ storageKey: null, url: 'data:text/plain;base64,aGVsbG8=' })), 'hello');
    });

    t.test('A broken upload is not stored, and its rest can be removed', async (t) => {
      const broken = async function* () {
        yield randomBytes(200_000);
        throw new Error('the client went away');
      };
      const halted = new Readable({ read() {} });
      halted.push(randomBytes(200_000));
      setImmediate(() => halted.destroy());
      for (const bytes of [Readable.from(broken()), halted]) {
        const key = randomUUID();
        await t.rejects(files.store(key, bytes, ABOUT));
        await files.remove(key);
        t.equal(await files.open(key), null);
      }
      const ended = randomUUID();
      const before = bytesOf('x');
      before.destroy(new Error('gone before it began'));
      await t.rejects(files.store(ended, before, ABOUT));
      await files.remove(ended);
    });

    if (driver === 'disk' && existsSync('/dev/full')) {
      t.test('A part of a file that a full disk has no space for is removed at once', async (t) => {
        const key = randomUUID();
        symlinkSync('/dev/full', join(dataDir, 'files', key));
        await t.rejects(files.store(key, bytesOf(randomBytes(200_000)), ABOUT), { code: 'E_CANNOT_WRITE_FILE' });
        t.notOk(readdirSync(join(dataDir, 'files')).includes(key));
      });
    }

    t.test('No file without a key stays on disk', async (t) => {
      const key = randomUUID();
      await files.store(key, bytesOf('x'), ABOUT);
      await files.remove(key);
      for (const folder of ['files', 'spool'].filter((name) => readdirSync(dataDir).includes(name))) {
        const left = readdirSync(join(dataDir, folder)).filter((name) => !name.endsWith('.png'));
        t.same(left.length, folder === 'files' ? 10 : 0, `${folder}: those of the tests above alone`);
      }
    });

    if (isBlob) {
      t.test('No key leads out of the storage', async (t) => {
        for (const key of ['../../etc/passwd', '..', '.', '', '/', 'a/../../b', '..\\..\\b', 'a\0b', 'é']) {
          await t.rejects(files.store(key, bytesOf('x'), ABOUT), JSON.stringify(key));
          await t.rejects(files.open(key), JSON.stringify(key));
          await t.rejects(files.remove(key), JSON.stringify(key));
        }
      });
    }
  });
}
