import t from 'tap';
import { testContext } from '../../../api/test/support/context.ts';
import { signUp } from '../../../api/test/support/people.ts';
import { buildForm, FORM, MIB, type Part, setStorageUsed, storeUpload } from '../../../api/test/support/uploads.ts';
import { visit } from '../support/visitor.ts';
import { createReader, readPage } from './read-form.ts';

const { app, ctx } = await testContext(t);
const alice = await signUp(app, { timezone: 'Europe/Berlin' });
const { findTask } = createReader(app, alice);
const alices = visit(app, alice);

const PROMPT = 'What is new in this file? Five lines.';
const FIELDS = {
  name: 'With files',
  prompt: PROMPT,
  mode: 'words',
  every: 'day',
  at: '08:00',
  timezone: 'Europe/Berlin',
  aiModel: 'a-model',
  maxTokens: '100',
  temperature: '0.70',
};

/** Sends the form with files, as a browser without scripts does. */
async function send(visitor: typeof alices, fields: Record<string, string>, files: Part[], bytes?: number) {
  const { document } = await visitor.open('/tasks/new');
  const token = document.querySelector('#task-form [name=_csrf]')?.getAttribute('value') ?? '';
  const texts = Object.entries({ _csrf: token, ...FIELDS, ...fields }).map(([field, content]) => ({
    field,
    name: null,
    content,
  }));
  const response = await app.inject({
    method: 'POST',
    url: '/tasks/new',
    headers: {
      ...FORM,
      host: 'localhost:3000',
      origin: 'http://localhost:3000',
      accept: 'text/html',
      cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
    payload: buildForm(...texts, ...files.map((file) => ({ field: 'files', ...file }))).subarray(0, bytes),
  });
  return readPage(response);
}

const NO_FILE = { name: '', content: '' };
const CSV = { name: 'known-errors.csv', type: 'text/csv', content: 'id,text\n1,gone\n' };

t.test('Files are stored with the form, and attached', async (t) => {
  const page = await send(alices, {}, [CSV, { name: 'notes.txt', type: 'text/plain', content: 'Grüße\n' }]);
  t.equal(page.status, 303);
  t.equal((await findTask('With files')).attachments.length, 2);
  t.equal((await send(alices, { name: 'Without files' }, [NO_FILE])).status, 303);
  t.same((await findTask('Without files')).attachments, []);
});

t.test('A refused form keeps the files that it brought, and names those that it could not', async (t) => {
  const bad = [
    { name: 'floorplan.tiff', type: 'image/tiff', content: 'II*' },
    { name: 'empty.txt', type: 'text/plain', content: '' },
    { name: 'long.txt', type: 'text/plain', content: Buffer.alloc(10 * MIB + 1, 'x') },
    { name: '%22><script>.csv', type: 'text/csv', content: 'a,b\n' },
  ];
  const page = await send(alices, { name: '' }, [CSV, ...bad]);
  t.equal(page.status, 422);
  const error = page.document.querySelector('#files-error')?.text ?? '';
  t.match(error, /floorplan.tiff must be a file of one of these kinds/);
  t.match(error, /empty.txt must not be empty/);
  t.match(error, /long.txt is too large/);
  const attached = page.document
    .querySelectorAll('[data-attach] > .files li span:first-of-type')
    .map(({ text }) => text);
  t.same(attached, ['known-errors.csv', '"><script>.csv']);
  const kept = await alices.submit(page, 'Save task', { name: 'Saved after all' });
  t.match(kept.url, /^\/tasks\/\d+$/);
  t.equal((await findTask('Saved after all')).attachments.length, 2);
});

t.test('An attached file is removed by its button, and chosen again from the list of files', async (t) => {
  const { id } = await findTask('With files');
  const page = await alices.open(`/tasks/${id}/edit`);
  const without = await alices.submit(page, 'Remove');
  t.equal(without.document.querySelectorAll('[data-attach] > .files li').length, 1);
  t.equal((await findTask('With files')).attachments.length, 2, 'not saved yet');
  await alices.submit(without, 'Save task');
  t.equal((await findTask('With files')).attachments.length, 1);
  const again = await alices.open(`/tasks/${id}/edit`);
  const boxes = again.document.querySelectorAll('details details [name=attachment]');
  for (const box of boxes) box.setAttribute('checked', '');
  await alices.submit(again, 'Save task');
  t.equal((await findTask('With files')).attachments.length, 1 + boxes.length);
});

t.test('A file of somebody else cannot be attached, and its name is not shown', async (t) => {
  const bob = await signUp(app, { name: 'Bob' });
  const id = await storeUpload(app, bob, { name: 'secret-of-bob.txt', type: 'text/plain', content: 'x' });
  const page = await send(alices, { name: 'Taken', attachment: id }, []);
  t.equal(page.status, 422);
  t.match(page.document.querySelector('#files-error')?.text, /was deleted/);
  t.notMatch(page.text, 'secret-of-bob');
});

t.test('A full storage is said at the field', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  await setStorageUsed(ctx, carol, 1e12);
  const page = await send(visit(app, carol), {}, [CSV]);
  t.equal(page.status, 422);
  t.match(page.document.querySelector('#files-error')?.text, /known-errors.csv is not stored: The quota/);
});

t.test('Files without a session or a token of the form are not stored', async (t) => {
  const before = await storeUpload(app, alice, { content: 'x' });
  t.ok(before);
  const refused = await send(alices, { _csrf: 'wrong' }, [CSV]);
  t.equal(refused.status, 403);
  const stranger = visit(app);
  t.not((await send(stranger, {}, [CSV])).status, 200);
});

t.test('A form that is cut, or has too much, is refused', async (t) => {
  t.match(await send(alices, {}, [CSV], 300), { status: 400, heading: 'Invalid request' });
  const files = Array.from({ length: 101 }, (_, index) => ({ ...CSV, name: `${index}.csv` }));
  t.match(await send(alices, {}, files), { status: 400, heading: 'Invalid request' });
});

t.test('Files that are not long are sent again with a form whose session has ended', async (t) => {
  const visitor = visit(app, alice);
  const session = visitor.cookies.get('local-session') ?? '';
  await visitor.open('/tasks/new');
  visitor.cookies.delete('local-session');
  const long = { name: 'long.txt', type: 'text/plain', content: 'x'.repeat(700_000) };
  const hostile = { field: 'kept-file', name: null, content: '{"name":1}' };
  const ended = await send(visitor, { name: 'Sent again' }, [CSV, long, hostile]);
  t.match(ended, { status: 401, heading: 'Not sent', text: /Too large to keep: long\.txt\. Attach again\./ });
  visitor.cookies.set('local-session', session);
  const signedIn = await visitor.submit(ended, 'Send again');
  t.match(signedIn, { status: 403, text: /You are signed in again/ });
  t.match(await visitor.submit(signedIn, 'Send again'), { heading: 'Sent again' });
  const [attachment] = (await findTask('Sent again')).attachments;
  t.match(await visitor.open(`/files/${attachment}/preview`), { text: /known-errors\.csv.*15 bytes/ });
});
