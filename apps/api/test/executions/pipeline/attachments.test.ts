import { uploads } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createAi } from '../../../src/lib/ai/client.ts';
import { createFileStorage, type FileStorage } from '../../../src/lib/storage/client.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { CSV, PDF, PNG, storeAttachment } from '../../support/attachments.ts';
import { testEngine } from '../../support/engine.ts';
import { startAnthropicServer } from '../../support/servers/anthropic-server.ts';
import { insertTask, insertUsers, PROMPT, readRun, readRuns } from '../../support/task-rows.ts';

const { ctx, ai, alice, clock, newWorker } = await testEngine(t);
const disk = createFileStorage({ storage: { driver: 'disk', url: 'http://files.test', folder: t.testdir() } });

const STORAGES: [name: string, files: FileStorage][] = [
  ['disk', disk],
  ['data URLs', ctx.files],
];
const base64 = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64');
const attachAll = async (files: FileStorage, ...given: (typeof PNG | typeof CSV)[]) => {
  const attached = [];
  for (const one of given) attached.push(await storeAttachment({ ...ctx, files }, alice().id, one));
  return attached;
};

for (const [storage, files] of STORAGES) {
  t.test(`An image, a table and a PDF in ${storage} reach the model, in order`, async (t) => {
    const attached = await attachAll(files, PNG, CSV, PDF);
    const task = await insertTask(ctx, alice().id, { attachments: attached.map(({ id }) => id) });
    await enqueueDue(ctx);
    await newWorker(t, { files }).drain();
    t.match(await readRun(ctx, task), { status: 'completed' });
    t.equal(ai.requests.length, 1);
    const [, message, ...others] = ai.requests[0]?.body.messages ?? [];
    t.strictSame(others, []);
    if (!message || typeof message.content === 'string') return t.fail('there are no parts');
    const [prompt, image, table, document, ...more] = message.content;
    t.strictSame(more, []);
    t.strictSame(prompt, { type: 'text', text: PROMPT });
    t.strictSame(image, { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(PNG.bytes)}` } });
    t.equal(table?.type, 'text');
    const [, marker] = /^BEGIN ([0-9a-f]{24})$/m.exec(table?.text ?? '') ?? [];
    t.ok(table?.text?.includes(`"bells.csv" (text/csv) follows between two lines that hold ${marker}`));
    t.ok(table?.text?.endsWith(`BEGIN ${marker}\n${CSV.bytes}\nEND ${marker}`), `${table?.text}`);
    t.strictSame(document, {
      type: 'file',
      file: { filename: 'plan.pdf', file_data: `data:application/pdf;base64,${base64(PDF.bytes)}` },
    });
  });

  t.test(`A deleted file in ${storage} fails the execution for good, and no model is asked`, async (t) => {
    const [kept, gone] = await attachAll(files, CSV, PNG);
    const task = await insertTask(ctx, alice().id, { attachments: [kept!.id, gone!.id] });
    await ctx.db.delete(uploads).where(eq(uploads.id, gone!.id));
    await enqueueDue(ctx);
    await newWorker(t, { files }).drain();
    t.match(await readRun(ctx, task), {
      status: 'failed',
      errorCode: 'INVALID_REQUEST',
      error: `The attachment "${gone!.id}" has been deleted; change the task's attachments.`,
      inputTokens: null,
    });
    t.equal(ai.requests.length, 0);
  });
}

t.test('Anthropic gets an image and a PDF as parts of their own, and a text as text', async (t) => {
  const anthropic = await startAnthropicServer(t);
  const keys = { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url };
  const claude = createAi({ ...ctx.config.ai, ...keys });
  t.teardown(() => claude.close());
  const attached = await attachAll(disk, CSV, PNG, PDF);
  const settings = { aiModel: 'anthropic/claude-sonnet-4-5', attachments: attached.map(({ id }) => id) };
  const task = await insertTask(ctx, alice().id, settings);
  await enqueueDue(ctx);
  await newWorker(t, { files: disk, ai: claude }).drain();
  t.match(await readRun(ctx, task), { status: 'completed' });
  const [request] = anthropic.requests;
  const source = (type: string, { bytes }: { bytes: string | Uint8Array }) => ({
    source: { type: 'base64', media_type: type, data: base64(bytes) },
  });
  const content = [
    { type: 'text', text: PROMPT },
    { type: 'text', text: /^BEGIN [0-9a-f]{24}$/m },
    { type: 'image', ...source('image/png', PNG) },
    { type: 'document', ...source('application/pdf', PDF) },
  ];
  t.match(request?.body.messages, [{ role: 'user', content }]);
});

t.test('Missing objects are reported by the names of their files', async (t) => {
  const attached = await attachAll(disk, PNG, CSV, PDF);
  const task = await insertTask(ctx, alice().id, { attachments: attached.map(({ id }) => id) });
  for (const { key } of [attached[0]!, attached[2]!]) await disk.remove(key!);
  await enqueueDue(ctx);
  await newWorker(t, { files: disk }).drain();
  t.match(await readRun(ctx, task), {
    status: 'failed',
    errorCode: 'INVALID_REQUEST',
    error: 'The attachments "tower.png", "plan.pdf" have been deleted; change the task\'s attachments.',
  });
  t.equal(ai.requests.length, 0);
});

t.test("A stranger's file is never attached", async (t) => {
  const [mine] = await attachAll(disk, CSV);
  const task = await insertTask(ctx, alice().id, { attachments: [mine!.id] });
  const [bob] = await insertUsers(ctx, 1);
  await ctx.db.update(uploads).set({ userId: bob! });
  await enqueueDue(ctx);
  await newWorker(t, { files: disk }).drain();
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'INVALID_REQUEST' });
});

t.test('Files from before there was a limit are refused beyond 20 MiB', async (t) => {
  const attached = await attachAll(disk, CSV, PNG);
  const task = await insertTask(ctx, alice().id, { attachments: attached.map(({ id }) => id) });
  await ctx.db.update(uploads).set({ size: 10 * 1024 * 1024 + 1 });
  await enqueueDue(ctx);
  await newWorker(t, { files: disk }).drain();
  t.match(await readRun(ctx, task), { errorCode: 'INVALID_REQUEST', error: /more than 20 MiB/ });
  t.equal(ai.requests.length, 0);
});

t.test('An execution whose storage is unreachable is retried, and the retry has the files', async (t) => {
  const [attached] = await attachAll(disk, CSV);
  const task = await insertTask(ctx, alice().id, { recurrence: 'once', attachments: [attached!.id] });
  await enqueueDue(ctx);
  const away = { ...disk, read: () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.9:9000')) };
  await newWorker(t, { files: away }).drain();
  const [failed, retry] = await readRuns(ctx, task);
  t.match(failed, { status: 'failed', errorCode: 'PROVIDER_UNAVAILABLE', error: /^File storage could not be reached/ });
  t.match(retry, { status: 'pending', attempt: 2, retryOfId: failed!.id });
  t.equal(ai.requests.length, 0);
  clock.advance(60_000);
  await enqueueDue(ctx);
  await newWorker(t, { files: disk }).drain();
  t.match((await readRuns(ctx, task))[1], { status: 'completed' });
  t.match(JSON.stringify(ai.requests[0]?.body), /1,200 kg/);
});

t.test('A file that the provider cannot read is named in the error', async (t) => {
  const attached = await attachAll(disk, PNG, CSV, PDF);
  const unreadable = 'The provider cannot read the attachment';
  const cases: [message: string, attachments: typeof attached, error: string][] = [
    ['Could not process image', attached, `${unreadable} "tower.png". `],
    ['The PDF specified was not valid.', attached, `${unreadable} "plan.pdf". `],
    ['Bad request', attached, 'The provider may be unable to read one of the attachments "tower.png", "plan.pdf". '],
    ['Bad request', attached.slice(0, 2), 'The provider may be unable to read the attachment "tower.png". '],
    ['Bad request', attached.slice(1, 2), ''],
  ];
  for (const [message, attachments, error] of cases) {
    ai.answer(() => ({ status: 400, body: { error: { message } } }));
    const task = await insertTask(ctx, alice().id, { attachments: attachments.map(({ id }) => id) });
    await enqueueDue(ctx);
    await newWorker(t, { files: disk }).drain();
    t.match(await readRun(ctx, task), {
      status: 'failed',
      errorCode: 'INVALID_REQUEST',
      error: `${error}The provider refused the request (400): ${message}`,
    });
  }
});
