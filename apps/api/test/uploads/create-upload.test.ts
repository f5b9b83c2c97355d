import { notifications, settings, uploads, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { SESSION_COOKIE } from '../../src/platform/http/credentials.ts';
import { deleteOrphanedObjects } from '../../src/product/uploads/orphaned-objects.ts';
import { LEASE_MS } from '../../src/product/uploads/reservation.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import {
  buildForm,
  buildText,
  deleteAll,
  FORM,
  getDetails,
  images,
  MIB,
  NO_UPLOADS,
  type Part,
  PDF,
  readUploadState,
  setStorageUsed,
  upload,
} from '../support/uploads.ts';

const { app, ctx, clock } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
t.beforeEach(() => clock.set(START));
t.afterEach(() => deleteAll(ctx));

t.test('A file is stored, and its record says where and what it is', async (t) => {
  const alice = await signUp(app);
  const bytes = images.png();
  const response = await upload(app, alice, { name: 'Bell tower.png', type: 'image/png', content: bytes });
  t.equal(response.statusCode, 200);
  const id = response.headers['x-file-id'];
  const { url, ...record } = response.json();
  t.same(record, {
    name: 'Bell tower.png',
    size: bytes.length,
    type: 'image/png',
    uploadedAt: START.toISOString(),
    storage: 'blob',
  });
  t.match(url, /\/files\/[0-9a-f]{48}\.png$/, 'under a name that cannot be guessed');
  const [row] = await ctx.db.select().from(uploads);
  t.match(row, { id, userId: alice.id, url, storageKey: url.split('/').at(-1) });
  t.same(await ctx.files.read({ storageKey: row?.storageKey ?? null, url }), bytes);
  t.same(await readUploadState(ctx, alice), { rows: 1, loose: 0, objects: 1, bytes: bytes.length, files: 1 });
  const usage = await app.inject({ url: '/api/usage', headers: alice.headers });
  t.equal(usage.json().usage.storage.usedBytes, bytes.length);
});

t.test('Every format is accepted, with its declared type or that of the extension', async (t) => {
  const cases: [name: string, content: Buffer | string, type: string][] = [
    ['a.png', images.png(), 'image/png'],
    ['a.JPG', images.jpeg(), 'image/jpeg'],
    ['a.jpeg', images.jpeg(640, 480, 2 * MIB), 'image/jpeg'],
    ['a.gif', images.gif(), 'image/gif'],
    ['a.webp', images.webp(), 'image/webp'],
    ['a.pdf', PDF, 'application/pdf'],
    ['a.txt', 'hello', 'text/plain'],
    ['a.md', '# hello', 'text/markdown'],
    ['a.csv', 'a,b\n1,2\n', 'text/csv'],
    ['a.json', '{"a": 1}', 'application/json'],
    ['a.txt', buildText(10 * MIB), 'text/plain'],
  ];
  const alice = await signUp(app);
  for (const [name, content, type] of cases) {
    for (const declared of ['application/octet-stream', type]) {
      const response = await upload(app, alice, { name, type: declared, content });
      t.equal(response.statusCode, 200, `${name} as ${declared}`);
      t.match(response.json(), { name, type, size: Buffer.byteLength(content) });
    }
  }
  t.equal((await readUploadState(ctx, alice)).files, cases.length * 2);
});

t.test('A file whose content does not match its name is refused, and nothing of it stays', async (t) => {
  const long = `../\r\n${'x'.repeat(1000)}.txt`.slice(-1000);
  const cases: [what: string, part: Part, message: RegExp][] = [
    ['a PNG named .pdf', { name: 'a.pdf', type: 'application/pdf', content: images.png() }, /not contain a \.pdf file/],
    [
      'a large PNG named .jpg',
      { name: 'a.jpg', content: Buffer.concat([images.png(), Buffer.alloc(MIB)]) },
      /not contain a \.jpg file/,
    ],
    ['HTML', { name: 'a.html', type: 'text/html', content: '<!doctype html>' }, /one of these kinds/],
    ['SVG', { name: 'a.svg', type: 'image/svg+xml', content: '<svg/>' }, /one of these kinds/],
    [
      'SVG named .png',
      { name: 'a.png', content: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
      /not contain a \.png file/,
    ],
    ['10 MiB and a byte', { name: 'a.txt', content: buildText(10 * MIB + 1) }, /at most 10485760 bytes/],
    ['nothing', { name: 'a.txt', content: '' }, /empty/],
    ['text with a NUL at its end', { name: 'a.csv', content: `${'1,'.repeat(MIB)}\0` }, /NUL/],
    ['ELF named .pdf', { name: 'a.pdf', content: Buffer.from('7f454c4602010100', 'hex') }, /not contain a \.pdf file/],
    ['a program', { name: 'a.exe', type: 'text/plain', content: 'a' }, /one of these kinds/],
    ['an empty name', { name: '', content: 'a' }, /name/],
    ['no name', { name: null, content: 'a' }, /name/],
    ['a name that is only a path', { name: '../..', content: 'a' }, /name/],
    ['a name of 1,000 characters with ../ and CR LF', { name: long, content: 'a' }, /\w/],
    ['the same as browsers write it', { name: long.replace('\r\n', '%0D%0A'), content: 'a' }, /name/],
    ['1,000 characters', { name: `${'x'.repeat(996)}.txt`, content: 'a' }, /at most 255/],
    ['a line break in the name', { name: 'a%0D%0Ab.txt', content: 'a' }, /control/],
    ['a name that runs backwards', { name: 'invoice\u202efdp.txt', content: 'a' }, /direction/],
  ];
  const alice = await signUp(app);
  for (const [what, part, message] of cases) {
    const response = await upload(app, alice, part);
    t.equal(response.statusCode, 400, what);
    t.match(response.json(), { success: false, error: 'Validation error', details: { file: [message] } }, what);
    t.same(await readUploadState(ctx, alice), NO_UPLOADS, `${what} leaves nothing behind`);
  }
});

t.test('Names are stored as written, without the path', async (t) => {
  const alice = await signUp(app);
  const nameOf = async (part: Partial<Part>) => {
    const response = await upload(app, alice, { content: 'a', ...part });
    return response.statusCode === 200 ? response.json().name : response.body;
  };
  t.equal(await nameOf({ name: 'Übersicht 日本 😀.txt' }), 'Übersicht 日本 😀.txt');
  t.equal(await nameOf({ name: 'U\u0308bersicht.txt' }), 'Übersicht.txt', 'in one form of Unicode');
  t.equal(await nameOf({ name: '../../etc/passwd.txt' }), 'passwd.txt');
  t.equal(await nameOf({ name: 'C:\\\\temp\\\\notes.txt' }), 'notes.txt');
  t.equal(await nameOf({ name: ' notes.txt ' }), 'notes.txt');
  t.equal(await nameOf({ name: 'a %22quoted%22 name.txt' }), 'a "quoted" name.txt', 'as browsers write it');
  t.equal(await nameOf({ name: 'a \\"quoted\\" name.txt' }), 'a "quoted" name.txt', 'as curl writes it');
  const star = `Content-Disposition: form-data; name="file"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt\r\n`;
  t.equal(await nameOf({ headers: star }), 'naïve €.txt');
  t.equal(await nameOf({ headers: 'content-disposition: form-data; filename=plain.txt; name=file\r\n' }), 'plain.txt');
  const widest = `${'😀'.repeat(251)}.txt`;
  t.equal(await nameOf({ name: widest }), widest, '255 characters');
  t.match(await nameOf({ name: `😀${widest}` }), /at most 255/);
});

t.test('A file that fits exactly is accepted, and a byte more is refused', async (t) => {
  const alice = await signUp(app);
  await setStorageUsed(ctx, alice, 100 * MIB - 10);
  const before = await readUploadState(ctx, alice);
  const refused = await upload(app, alice, { content: buildText(11) });
  t.equal(refused.statusCode, 402);
  const { message, ...body } = refused.json();
  const details = { resource: 'storage', used: 100 * MIB - 10, limit: 100 * MIB, resetAt: null };
  t.same(body, { success: false, error: 'Quota exceeded', details });
  t.match(message, /storage/);
  t.same(await readUploadState(ctx, alice), before);
  t.equal((await upload(app, alice, { content: buildText(10) })).statusCode, 200);
  const full = await upload(app, alice, { content: 'a' });
  t.match([full.statusCode, full.json()], [402, { details: { used: 100 * MIB } }]);
});

t.test('The current plan decides, from the next upload on', async (t) => {
  const alice = await signUp(app);
  await setStorageUsed(ctx, alice, 100 * MIB);
  t.equal((await upload(app, alice, { content: 'a' })).statusCode, 402);
  await ctx.db.update(users).set({ plan: 'pro' }).where(eq(users.id, alice.id));
  t.equal((await upload(app, alice, { content: 'a' })).statusCode, 200);
  await setStorageUsed(ctx, alice, 10 * 1024 * MIB);
  t.equal((await upload(app, alice, { content: 'a' })).statusCode, 402);
});

t.test('The upload that reaches a threshold sends one alert', async (t) => {
  const alice = await signUp(app);
  await setStorageUsed(ctx, alice, 50 * MIB - 10);
  const payload = { threshold: 50, notifyEmail: false, notifyWebhook: false };
  await app.inject({ method: 'POST', url: '/api/usage/alerts', headers: alice.headers, payload });
  const countAlerts = () => ctx.db.$count(notifications);
  for (const [bytes, expected] of [
    [9, 0],
    [1, 1],
    [1, 1],
  ] as const) {
    await upload(app, alice, { content: buildText(bytes) });
    t.equal(await countAlerts(), expected);
  }
});

t.test('The storage of other users does not count', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app, { name: 'Bob' })];
  await setStorageUsed(ctx, bob, 100 * MIB);
  t.equal((await upload(app, alice, { content: 'a' })).statusCode, 200);
});

t.test('A storage that fails is 503, and its object is deleted even if it arrives later', async (t) => {
  let alice = await signUp(app);
  const { store } = ctx.files;
  t.teardown(() => Object.assign(ctx.files, { store }));
  const fail = async () => {
    throw new Error('No space is left.');
  };
  const failings = {
    'before it': fail,
    'behind it': (...given: Parameters<typeof store>) => store(...given).then(fail),
  };
  for (const [when, failing] of Object.entries(failings)) {
    Object.assign(ctx.files, { store: failing });
    const response = await upload(app, alice, { content: buildText(MIB) });
    t.equal(response.statusCode, 503, when);
    t.match(response.json(), { success: false, error: 'Service unavailable' });
    t.match(await readUploadState(ctx, alice), { rows: 0, loose: 1, bytes: 0, files: 0 }, when);
    Object.assign(ctx.files, { store });
    t.equal((await upload(app, alice, { content: 'a' })).statusCode, 200, 'its place is free');
    await ctx.db.delete(uploads);
    clock.advance(LEASE_MS + 1);
    await deleteOrphanedObjects(ctx);
    t.match(await readUploadState(ctx, alice), { rows: 0, loose: 0 }, when);
    await deleteAll(ctx);
    alice = await signUp(app);
  }
});

t.test('Pages of other sites cannot upload with the cookie', async (t) => {
  const alice = await signUp(app);
  const cookie = `${SESSION_COOKIE}=${alice.token}`;
  const send = (headers: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url: '/api/upload',
      headers: { ...FORM, cookie, ...headers },
      payload: buildForm({ content: 'a' }),
    });
  for (const site of ['cross-site', 'same-site']) {
    const response = await send({ 'sec-fetch-site': site });
    t.equal(response.statusCode, 403);
    t.same(response.json(), { error: 'This request comes from another site.' });
  }
  t.equal((await send({ origin: 'https://evil.example' })).statusCode, 403);
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
  t.equal((await send({ 'sec-fetch-site': 'same-origin' })).statusCode, 200);
});

t.test('An upload requires a session', async (t) => {
  await assertNeedsSession(t, app, { method: 'POST', url: '/api/upload', payload: buildForm({ content: 'a' }) });
  await ctx.db.update(settings).set({ maintenanceMode: true });
  const response = await upload(app, await signUp(app), { content: 'a' });
  await ctx.db.update(settings).set({ maintenanceMode: false });
  t.equal(response.statusCode, 503);
});

t.test('The message names the field', async (t) => {
  const alice = await signUp(app);
  t.same(getDetails(await upload(app, alice, { field: 'attachment', content: 'a' })), {
    attachment: ['is not a known field'],
  });
});
