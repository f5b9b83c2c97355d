import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { settings, uploads, uploadTotals, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { emptyDatabase } from '../../../../packages/db/test/empty-database.ts';
import { FORMAT, HEADER } from '../../src/carillon/archive/format.ts';
import { readArchive } from '../../src/carillon/archive/read.ts';
import { writeArchive } from '../../src/carillon/archive/write.ts';
import { openCarillon, runCarillon } from './run-carillon.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-restore-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const cwd = folder;
const runNext = openCarillon(t);
const key = () => randomBytes(32).toString('base64');
const ENCRYPTION_KEY = `2025:${key()}`;
const from = { DATA_DIR: join(folder, 'from'), STORAGE_DRIVER: 'disk', ENCRYPTION_KEY };
const to = { DATA_DIR: join(folder, 'to'), STORAGE_DRIVER: 'disk', ENCRYPTION_KEY };
const archive = join(folder, 'backup.tar.zst');
const NEVER = new AbortController().signal;
const texts = getTexts('en');

// A name that COPY has to escape, and files that are empty, shorter than a tar block, and longer than a part.
const NAME = 'Alice\tand\\Bob\nand "Ada", \u{1f514}';
const CONTENTS = { 'empty.txt': '', 'short.txt': 'short', 'long.txt': 'long '.repeat(300_000) };
const { db, url } = await testDatabase(t);
const [alice] = await db
  .insert(users)
  .values({ identityUserId: 'local:a', email: 'alice@example.com', name: NAME })
  .returning();
const userId = alice?.id ?? 0;
mkdirSync(join(from.DATA_DIR, 'files'), { recursive: true });
const keys = [...Object.keys(CONTENTS), 'deleted.txt'];
for (const [name, content] of Object.entries(CONTENTS)) writeFileSync(join(from.DATA_DIR, 'files', name), content);
await db.insert(uploads).values(
  keys.map((storageKey, at) => {
    const id = `00000000-0000-4000-8000-00000000000${at}`;
    const stored = { storage: 'blob', storageKey, url: `http://localhost:3000/files/${storageKey}` } as const;
    return { id, userId, name: storageKey, type: 'text/plain', size: 1, uploadedAt: new Date(), ...stored };
  }),
);
await db.insert(uploadTotals).values({ userId, bytes: 4, files: 4 });

t.test('A backup is one file that only its owner can read, and its content is summed up', async (t) => {
  const { code, out, err } = await runCarillon(['backup', archive, '--json'], { ...from, DATABASE_URL: url }, { cwd });
  t.same([code, err], [0, '']);
  t.match(JSON.parse(out), {
    file: archive,
    size: statSync(archive).size,
    rows: 8,
    files: 3,
    missingFiles: 1,
    storage: 'disk',
  });
  t.equal(statSync(archive).mode & 0o777, 0o600);
  const again = await runNext(['backup', archive], { ...from, DATABASE_URL: url }, { cwd });
  t.match(again, { code: 1, err: `${archive} already exists: choose another file.\n` });
  const nowhere = await runNext(['backup', join(folder, 'no', 'where')], { ...from, DATABASE_URL: url }, { cwd });
  t.match(nowhere, { code: 1, err: `${join(folder, 'no', 'where')} cannot be written (ENOENT).\n` });
});

t.test('A backup whose time cannot be recorded is complete, with a warning', async (t) => {
  const [before] = await db.select({ lastBackupAt: settings.lastBackupAt }).from(settings);
  t.ok(before?.lastBackupAt, 'the first one is recorded');
  await db.execute(sql`create function refuse() returns trigger as 'begin raise ''read-only''; end' language plpgsql`);
  await db.execute(sql`create trigger refuse before update on settings execute function refuse()`);
  const file = join(folder, 'unrecorded.tar.zst');
  const { code, out, err } = await runNext(['backup', file], { ...from, DATABASE_URL: url }, { cwd });
  await db.execute(sql`drop function refuse cascade`);
  t.match([code, out, err], [0, /8 rows/, /^The backup is complete, but its time could not be recorded/]);
  t.same(await db.select({ lastBackupAt: settings.lastBackupAt }).from(settings), [before]);
});

t.test('A restore brings back rows and files as they were', async (t) => {
  const { sql, url } = await emptyDatabase(t, 'restored');
  const { code, out, err } = await runCarillon(['restore', archive], { ...to, DATABASE_URL: url }, { cwd });
  t.same([code, err], [0, '']);
  t.match(out, /^Restored 8 rows and 3 files/);
  t.notMatch(out, 'Warning');
  t.match(await sql`select name, email from users`, [{ name: NAME, email: 'alice@example.com' }]);
  for (const [name, content] of Object.entries(CONTENTS)) {
    t.ok(readFileSync(join(to.DATA_DIR, 'files', name), 'utf8') === content, name);
    t.equal(statSync(join(to.DATA_DIR, 'files', name)).mode & 0o777, 0o600);
  }
  t.strictSame(readdirSync(to.DATA_DIR).sort(), ['files', 'secrets.json'], 'nothing else is left');
  const again = await runNext(['restore', archive], { ...to, DATABASE_URL: url }, { cwd });
  t.match(again, { code: 1, err: /^The database is not empty \(.*\n$/ });
});

t.test('A restore warns of missing keys and of another URL of files', async (t) => {
  const { url } = await emptyDatabase(t, 'restored_keys');
  const other = { ...to, DATABASE_URL: url, BASE_URL: 'http://localhost:4000', ENCRYPTION_KEY: `2025:${key()}` };
  const { code, out } = await runNext(['restore', archive, '--json'], other, { cwd });
  t.equal(code, 0);
  t.strictSame(JSON.parse(out).warnings, [
    'ENCRYPTION_KEY lacks the key "2025" of the backup: secrets encrypted with it cannot be decrypted.',
    'files were served at http://localhost:3000/files and are now at http://localhost:4000/files: existing links have changed.',
  ]);
});

t.test('A damaged archive is rejected and leaves an empty database and no file', async (t) => {
  const whole = readFileSync(archive);
  const { sql, url } = await emptyDatabase(t, 'restored_damaged');
  const DATA_DIR = join(folder, 'damaged');
  const assertRejected = async (name: string, bytes: Buffer | null, message: RegExp, env = {}) => {
    const path = join(folder, name);
    if (bytes) writeFileSync(path, bytes);
    const { code, err } = await runNext(['restore', path], { ...to, DATA_DIR, DATABASE_URL: url, ...env }, { cwd });
    t.equal(code, 1, name);
    t.match(err, message, name);
    t.notMatch(err, 'COPY', name);
    t.equal(err.split('\n').length, 2, 'in one line');
    const [found] = await sql`
      select count(*)::int as tables from pg_class where relnamespace in (select oid from pg_namespace where nspname in ('public', 'drizzle'))`;
    t.equal(found?.tables, 0);
    t.notOk(existsSync(join(DATA_DIR, 'files')));
    t.notOk(existsSync(join(DATA_DIR, 'files.restoring')));
  };
  const flipped = Buffer.from(whole);
  flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 0xff;
  const build = async (name: string, entries: [string, string][]) => {
    const add = async (writer: Parameters<Parameters<typeof writeArchive>[1]>[0]) => {
      for (const [entry, content] of entries) await writer.add(entry, Buffer.from(content));
    };
    await writeArchive(join(folder, name), add, { signal: NEVER, texts });
  };
  await assertRejected('none', null, /none cannot be read \(ENOENT\)/);
  await assertRejected('empty', Buffer.alloc(0), /empty is damaged or truncated/);
  await assertRejected('text', Buffer.from('some text'), /text is not a backup of Carillon/);
  await assertRejected('half', whole.subarray(0, whole.length >> 1), /half is damaged or truncated/);
  await assertRejected('short', whole.subarray(0, -100), /short is damaged or truncated/);
  await assertRejected('flipped', flipped, /flipped is damaged/);
  await build('strange', [['../../etc/passwd', 'root']]);
  await assertRejected('strange', null, /strange is not a backup of Carillon/);
  await build('later', [[HEADER, JSON.stringify({ format: FORMAT + 1 })]]);
  await assertRejected('later', null, /has the format 2, this version reads 1/);
  const header = await readHeader();
  await build('endless', [[HEADER, JSON.stringify(header)]]);
  await assertRejected('endless', null, /endless is damaged \(its end is missing\)/);
  const newer = { ...header, migration: { tag: '9999_later', when: 9e12 } };
  await build('newer', [[HEADER, JSON.stringify(newer)]]);
  await assertRejected('newer', null, /The backup is from a newer Carillon \(its schema is 9999_later\)/);
  await build('escape', [
    [HEADER, JSON.stringify(header)],
    ['files/..', 'x'],
  ]);
  await assertRejected('escape', null, /escape is not a backup of Carillon/);
  const driver = { STORAGE_DRIVER: 'base64' };
  await assertRejected(
    'backup.tar.zst',
    null,
    /The backup contains files of STORAGE_DRIVER=disk: set it here too/,
    driver,
  );
  const portuguese = { LC_ALL: '', LC_MESSAGES: '', LANG: 'pt_BR.UTF-8' };
  await assertRejected('endless', null, /endless está danificado \(falta o fim\): nada foi restaurado/, portuguese);
  await assertRejected('newer', null, /O backup é de um Carillon mais novo \(o esquema é 9999_later\)/, portuguese);
});

async function readHeader() {
  for await (const { bytes } of readArchive(archive, { onRead: () => {}, signal: NEVER, texts })) {
    return JSON.parse(await text(bytes));
  }
}

t.test('An aborted backup leaves no file behind', async (t) => {
  const path = join(folder, 'stopped.tar.zst');
  const before = readdirSync(folder);
  const signal = AbortSignal.abort(new Error('Stopped.'));
  await t.rejects(
    writeArchive(path, (writer) => writer.add(HEADER, Buffer.alloc(1024)), { signal, texts }),
    { message: 'Stopped.' },
  );
  t.strictSame(readdirSync(folder), before);
});
