import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { countStatements } from '../../../api/test/support/database.ts';
import { type Person, signUp } from '../../../api/test/support/people.ts';
import { insertTask } from '../../../api/test/support/task-rows.ts';
import { insertUpload } from '../../../api/test/support/tasks.ts';
import {
  buildForm,
  FORM,
  images,
  MIB,
  type Part,
  setStorageUsed,
  storeUpload,
} from '../../../api/test/support/uploads.ts';
import { SESSION_STATEMENTS, type Visitor, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });

const newAlice = () => signUp(app, { name: 'Alice', timezone: 'Europe/Berlin' });

/** Sends the form of the page with files, and returns the answer. */
async function send(visitor: Visitor, ...files: Part[]) {
  const { document } = await visitor.open('/files');
  const token = document.querySelector('input[name=_csrf]')?.getAttribute('value') ?? '';
  return post(
    visitor,
    { field: '_csrf', name: null, content: token },
    ...files.map((file) => ({ field: 'files', ...file })),
  );
}

const post = (visitor: Visitor, ...parts: Part[]) =>
  app.inject({
    method: 'POST',
    url: '/files',
    headers: {
      ...{ host: 'localhost:3000', origin: 'http://localhost:3000', accept: 'text/html' },
      cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...FORM,
    },
    payload: buildForm(...parts),
  });

const idOf = async (person: Person, part: Part): Promise<string> => storeUpload(app, person, part);
const TEXT: Part = { name: 'notes.txt', type: 'text/plain', content: 'Hello' };

t.test('A list without files says what to do, and takes two statements beside the session', async (t) => {
  const visitor = visit(app, await newAlice());
  const statements = countStatements(ctx.db);
  const page = await visitor.open('/files');
  t.equal(statements(), SESSION_STATEMENTS + 2);
  t.match(page, { status: 200, heading: 'Files', text: /No files yet\..*Used by 0 files0 bytes/ });
});

t.test('Several files are added by one form, and listed with size, time, kind and tasks', async (t) => {
  const alice = await newAlice();
  const visitor = visit(app, alice);
  const answer = await send(visitor, TEXT, { name: 'plan.png', type: 'image/png', content: images.png() });
  t.match(answer, { statusCode: 303, headers: { location: '/files' } });
  const page = await visitor.open('/files');
  const rows = page.document.querySelectorAll('tbody tr').map((row) => row.text.replace(/\s+/g, ' ').trim());
  t.equal(rows.length, 2);
  t.match(
    rows.join('\n'),
    /plan\.pngPNG image, preview of plan\.png\d+ bytesToday at 11:00just nowno taskDelete… plan\.png/,
  );
  t.match(rows.join('\n'), /notes\.txttext5 bytes/);
  t.match(page.document.querySelector('meter')?.attributes, { min: '0', max: String(100 * MIB) });

  const image = page.document.querySelectorAll('a').find(({ text }) => text.startsWith('preview'))!;
  const preview = await visitor.open(image.getAttribute('href')!);
  t.match(preview, { status: 200, heading: 'plan.png' });
  const source = preview.document.querySelector('main img')?.getAttribute('src') ?? '';
  t.match(source, /^\/files\/[0-9a-f]{48}\.png$/);
  t.match(await app.inject(source), { statusCode: 200, headers: { 'content-type': 'image/png' } });
});

t.test('Files that are refused are named at the field, and the others are stored', async (t) => {
  const visitor = visit(app, await newAlice());
  const { statusCode, body } = await send(
    visitor,
    TEXT,
    { name: 'tool.exe', type: 'application/octet-stream', content: 'MZ' },
    { name: 'long.txt', type: 'text/plain', content: Buffer.alloc(10 * MIB + 1, 'a') },
  );
  t.equal(statusCode, 422);
  t.match(body, '1 file is stored.');
  t.match(body, /id="files-error".*tool\.exe must be a file of one of these kinds.*long\.txt is too large/s);
  t.match((await send(visitor)).body, 'Choose at least one file');
});

t.test('A file that does not fit into the storage of the plan is refused, and the meter is full', async (t) => {
  const alice = await newAlice();
  await setStorageUsed(ctx, alice, 100 * MIB);
  const visitor = visit(app, alice);
  const { statusCode, body } = await send(visitor, TEXT);
  t.equal(statusCode, 422);
  t.match(body, /notes\.txt is not stored: .*storage/);
  t.match(body, `value="${100 * MIB}"`);
});

t.test('A form with files needs its token and a session', async (t) => {
  const visitor = visit(app, await newAlice());
  await visitor.open('/files');
  const file = { field: 'files', ...TEXT };
  t.equal((await post(visitor, file)).statusCode, 403);
  t.equal((await post(visitor, { field: '_csrf', name: null, content: 'x' }, file)).statusCode, 403);
  t.equal((await post(visit(app), { field: '_csrf', name: null, content: 'x' }, file)).statusCode, 303);
  t.match((await visitor.open('/files')).text, /Used by 0 files/);
});

t.test('A file is deleted after a question that names the tasks which use it', async (t) => {
  const alice = await newAlice();
  const id = await idOf(alice, TEXT);
  for (const name of ['One', 'Two', 'Three', 'Four']) await insertTask(ctx, alice.id, { name, attachments: [id] });
  const visitor = visit(app, alice);
  t.match((await visitor.open('/files')).text, /One, Two, Three and more/);
  const question = await visitor.open(`/files/${id}/delete`);
  t.match(question, { status: 200, heading: 'Delete this file?' });
  t.match(question.text, /notes\.txt, text, 5 bytes Attached to One, Two, Three, Four\. Their next runs fail/);
  const done = await visitor.submit(question, 'Delete file');
  t.match(done, { url: '/files', text: /notes\.txt is deleted\. 4 tasks used it\..*Used by 0 files/ });
  t.match(await visitor.submit(question, 'Delete file'), { status: 404, heading: 'Page not found' });
});

t.test('A list goes on by a cursor, newest first', async (t) => {
  const alice = await newAlice();
  for (let at = 0; at < 27; at++) {
    if (at % 2 === 0) clock.advance(1000);
    await insertUpload(ctx, alice);
  }
  const visitor = visit(app, alice);
  const first = await visitor.open('/files');
  const next = await visitor.open(first.document.querySelector('a[rel=next]')!.getAttribute('href')!);
  const idsOf = (page: typeof first) =>
    page.document.querySelectorAll('a.danger').map((link) => link.getAttribute('href'));
  t.equal(idsOf(first).length, 25);
  t.equal(idsOf(next).length, 2);
  t.equal(new Set([...idsOf(first), ...idsOf(next)]).size, 27);
  for (const cursor of ['x', Buffer.from('2026-11-20T10:00:00.000Z x').toString('base64url')]) {
    t.equal((await visitor.open(`/files?cursor=${cursor}`)).status, 400, cursor);
  }
});

t.test("A stranger's file is not found", async (t) => {
  const id = await idOf(await newAlice(), TEXT);
  const bob = await signUp(app, { name: 'Bob' });
  const own = await idOf(bob, TEXT);
  const visitor = visit(app, bob);
  for (const path of [id, 'abc', '00000000-0000-4000-8000-000000000000']) {
    for (const page of ['delete', 'preview']) {
      t.match(await visitor.open(`/files/${path}/${page}`), { status: 404 }, `${path}/${page}`);
    }
    const question = await visitor.open(`/files/${own}/delete`);
    question.document.querySelector('main form')!.setAttribute('action', `/files/${path}/delete`);
    t.match(await visitor.submit(question, 'Delete file'), { status: 404 }, path);
  }
  t.match((await visitor.open('/files')).text, /Used by 1 file/);
});

t.test('The name of a file stays text', async (t) => {
  const alice = await newAlice();
  const name = "'><script>alert(1)<script>{{7*7}}.txt";
  const id = await idOf(alice, { ...TEXT, name });
  const visitor = visit(app, alice);
  for (const url of ['/files', `/files/${id}/delete`, `/files/${id}/preview`]) {
    const { document, response } = await visitor.open(url);
    t.equal(document.querySelectorAll('main script').length, 0, url);
    t.notMatch(response.body, '<script>alert', url);
    t.match(document.querySelector('main')?.text, name, url);
  }
  const { body } = await send(visitor, { name: `<b>${'x'.repeat(300)}.txt`, type: 'text/plain', content: 'a' });
  t.match(body, '&lt;b&gt;xxx');
});
