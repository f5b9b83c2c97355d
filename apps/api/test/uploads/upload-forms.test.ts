import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { testContext } from '../support/context.ts';
import { type Person, signUp } from '../support/people.ts';
import {
  BOUNDARY,
  buildForm,
  buildText,
  deleteAll,
  FORM,
  images,
  MIB,
  NO_UPLOADS,
  postForm,
  readUploadState,
} from '../support/uploads.ts';

const { app, ctx } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
t.afterEach(() => deleteAll(ctx));

const file = (content = 'hello') => buildForm({ content }).toString('latin1');
const END = `--${BOUNDARY}--\r\n`;

/** Expects 400 with the name of the field, and nothing stored. */
async function assertRefused(t: Test, alice: Person, what: string, payload: string | Buffer, field = 'file') {
  const response = await postForm(app, alice, payload);
  t.equal(response.statusCode, 400, what);
  t.match(response.json(), { success: false, error: 'Validation error', details: { [field]: [/\w/] } }, what);
  t.same(await readUploadState(ctx, alice), NO_UPLOADS, `${what} leaves nothing behind`);
}

t.test('A malformed form is refused', async (t) => {
  const alice = await signUp(app);
  const part = (headers: string) => buildForm({ headers, content: 'hello' });
  const many = Array.from({ length: 3000 }, (_, i) => `X-${i}: y\r\n`).join('');
  const cases: Record<string, string | Buffer> = {
    'no final boundary': file().replace(END, ''),
    'half a final boundary': file().slice(0, -6),
    'headers only': `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`,
    'half a header': `--${BOUNDARY}\r\nContent-Dispo`,
    garbage: 'garbage'.repeat(1000),
    'bytes of any kind': images.png(),
    'nothing at all': '',
    'another boundary': file().replaceAll(BOUNDARY, 'other'),
    'an empty form': END,
    'no disposition': part('Content-Type: text/plain\r\n'),
    'another disposition': part('Content-Disposition: attachment; name="file"; filename="a.txt"\r\n'),
    'no field name': part('Content-Disposition: form-data; filename="a.txt"\r\n'),
    'an empty field name': part('Content-Disposition: form-data; name=""; filename="a.txt"\r\n'),
    'thousands of headers': part(many),
    'a header of a megabyte': part(`X: ${'y'.repeat(MIB)}\r\n`),
    'two files': buildForm({ content: 'one' }, { content: 'two' }),
    'a large file and a second one': buildForm({ content: buildText(3 * MIB) }, { content: buildText(3 * MIB) }),
    'a hundred files': buildForm(...Array.from({ length: 100 }, () => ({ content: 'one' }))),
    'a file and a part without a name': Buffer.concat([
      Buffer.from(file().replace(END, '')),
      part('Content-Disposition: form-data\r\n'),
    ]),
  };
  for (const [what, payload] of Object.entries(cases)) await assertRefused(t, alice, what, payload);
});

t.test('Other parts than the file are refused by name', async (t) => {
  const alice = await signUp(app);
  const extra = { field: 'folder', name: null, content: 'x' };
  const another = { field: 'thumbnail', content: 'x' };
  await assertRefused(t, alice, 'a field behind it', buildForm({ content: 'a' }, extra), 'folder');
  await assertRefused(t, alice, 'a field before it', buildForm(extra, { content: 'a' }), 'folder');
  await assertRefused(t, alice, 'a file behind it', buildForm({ content: 'a' }, another), 'thumbnail');
  await assertRefused(t, alice, 'a file before it', buildForm(another, { content: 'a' }), 'thumbnail');
  await assertRefused(t, alice, 'a field instead', buildForm({ ...extra, content: buildText(3 * MIB) }), 'folder');
  for (const field of ['__proto__', 'toString', 'constructor']) {
    await assertRefused(t, alice, field, buildForm({ field, content: 'a' }));
    await assertRefused(t, alice, field, buildForm({ field, name: null, content: 'a' }));
    await assertRefused(t, alice, field, buildForm({ content: 'a' }, { field, content: 'a' }));
  }
});

t.test('Anything but a form is refused', async (t) => {
  const alice = await signUp(app);
  const send = (type: string | null, payload: string) => {
    const headers = { ...alice.headers, ...(type === null ? {} : { 'content-type': type }) };
    return app.inject({ method: 'POST', url: '/api/upload', headers, payload });
  };
  for (const type of [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/mixed; boundary=x',
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; charset=utf-8',
    `multipart/form-data\t; boundary=${'x'.repeat(5000)}`,
    'image/png',
    'nonsense',
    null,
  ]) {
    t.equal((await send(type, '{}')).statusCode, 400, `${type}`);
    t.equal((await send(type, '')).statusCode, 400, `${type} without a body`);
  }
  t.match((await send('application/json', '{}')).json(), { success: false, error: 'Invalid content type' });
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
});

t.test("A browser's form is accepted, with any file name", async (t) => {
  const alice = await signUp(app);
  for (const name of [
    'Übersicht 日本 😀.txt',
    'a "quoted" name; with = and, more.txt',
    "it's 100 %.txt",
    ' a\tb.txt',
  ]) {
    const body = new FormData();
    body.append('file', new Blob(['hello'], { type: 'text/plain' }), name);
    const response = await fetch(`http://127.0.0.1:${port}/api/upload`, {
      method: 'POST',
      headers: alice.headers,
      body,
    });
    const record = (await response.json()) as { name?: string };
    if (name.includes('\t')) t.equal(response.status, 400, 'but for control characters');
    else t.same([response.status, record.name], [200, name]);
  }
});

/** Writes the pieces to a new connection, each after the previous one was flushed, and returns the response. */
async function talk(pieces: Iterable<string | Buffer>, { end = true } = {}): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const piece of pieces) {
    if (socket.destroyed || !socket.writable) break;
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  if (end) socket.end();
  await closed;
  return received;
}

const post = ({ token }: Person, headers: Record<string, string | number>) =>
  [
    'POST /api/upload HTTP/1.1',
    'Host: carillon',
    `Authorization: Bearer ${token}`,
    `Content-Type: ${FORM['content-type']}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');
const next = 'GET /api/health HTTP/1.1\r\nHost: carillon\r\nConnection: close\r\n\r\n';
const statusesIn = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

t.test('After a refusal the connection serves the next request', async (t) => {
  const alice = await signUp(app);
  const forms: Record<string, Buffer> = {
    'a wrong type': buildForm({ name: 'a.pdf', content: Buffer.concat([images.png(), buildText(5 * MIB)]) }),
    'a name that is refused': buildForm({ name: 'a.exe', content: buildText(5 * MIB) }),
    'a second file': buildForm({ content: 'a' }, { content: buildText(5 * MIB) }),
    'too large a file': buildForm({ content: buildText(10 * MIB + 1) }),
    'a form that is too large': buildForm({ content: buildText(12 * MIB) }),
    'an epilogue': Buffer.concat([buildForm({ name: 'a.exe', content: 'a' }), buildText(MIB)]),
  };
  for (const [what, form] of Object.entries(forms)) {
    const received = await talk([post(alice, { 'Content-Length': form.length }), form, next], { end: false });
    t.same(statusesIn(received), ['400', '200'], what);
  }
  const form = buildForm({ content: buildText(5 * MIB) });
  const stranger = { ...alice, token: 'nonsense' };
  const received = await talk([post(stranger, { 'Content-Length': form.length }), form, next], { end: false });
  t.same(statusesIn(received), ['401', '200'], 'a stranger');
  t.same(await readUploadState(ctx, alice), NO_UPLOADS);
});

t.test('An endless body is cut off with its answer', async (t) => {
  const alice = await signUp(app);
  let written = 0;
  const chunk = (content: Buffer | string) => `${Buffer.byteLength(content).toString(16)}\r\n${content}\r\n`;
  function* endless(begin: string) {
    yield post(alice, { 'Transfer-Encoding': 'chunked' });
    if (begin) yield chunk(begin);
    const more = chunk(buildText(MIB));
    for (written = 0; written < 1000; written++) yield more;
  }
  const head = (disposition: string) => `--${BOUNDARY}\r\n${disposition}\r\n\r\n`;
  const begins = {
    'the file': head('Content-Disposition: form-data; name="file"; filename="a.txt"'),
    'a field': head('Content-Disposition: form-data; name="file"'),
    'a part that is not a field or file': head('X: y'),
    'no part': '',
    'a header': `--${BOUNDARY}\r\nX: `,
  };
  for (const [what, begin] of Object.entries(begins)) {
    const received = await talk(endless(begin), { end: false });
    // The answer may be lost if the client keeps sending; the connection is closed in any case.
    t.match(statusesIn(received).join(), /^(400)?$/, what);
    t.ok(written < 100, `${what}: ${written} MiB`);
    t.same(await readUploadState(ctx, alice), NO_UPLOADS, what);
  }
  const received = await talk([post(alice, { 'Content-Length': 1024 * MIB })], { end: false });
  t.match(received, /^HTTP\/1\.1 400 .*connection: close/is, 'a gigabyte that is announced is refused at once');
});

t.test('A client that disconnects during an upload leaves nothing behind', async (t) => {
  const alice = await signUp(app);
  const form = buildForm({ content: buildText(3 * MIB) });
  for (const sent of [50, 150, MIB, form.length - 5]) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(post(alice, { 'Content-Length': form.length }));
    await new Promise((resolve) => socket.write(form.subarray(0, sent), resolve));
    // Until it is running, or would have been.
    if (sent > 200) while ((await readUploadState(ctx, alice)).loose === 0) await new Promise(setImmediate);
    socket.destroy();
    const deadline = performance.now() + 30_000;
    let left = await readUploadState(ctx, alice);
    while (JSON.stringify(left) !== JSON.stringify(NO_UPLOADS) && performance.now() < deadline) {
      await new Promise(setImmediate);
      left = await readUploadState(ctx, alice);
    }
    t.same(left, NO_UPLOADS, `after ${sent} bytes`);
  }
});

t.test('A form that arrives byte by byte is the same form', async (t) => {
  const alice = await signUp(app);
  const form = buildForm({ name: 'a.png', content: images.png() });
  const received = await talk(
    [post(alice, { 'Content-Length': form.length }), ...Array.from(form, (byte) => Buffer.from([byte])), next],
    { end: false },
  );
  t.same(statusesIn(received), ['200', '200']);
});
