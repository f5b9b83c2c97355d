import t from 'tap';
import { callChannel, postChannel } from '../../../api/test/support/channels.ts';
import { START, testContext } from '../../../api/test/support/context.ts';
import { type Person, signUp } from '../../../api/test/support/people.ts';
import { patchTask, postTask, readTask, runDue } from '../../../api/test/support/tasks.ts';
import { type ShownPage, visit } from '../support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app);
});
const rows = ({ document }: ShownPage) =>
  document.querySelectorAll('tbody tr').map((row) => row.text.replace(/\s+/g, ' ').trim());
const change = async (id: number, given: object) => {
  const { statusCode, body } = await patchTask(app, alice, id, given);
  if (statusCode !== 200) throw new Error(body);
};

t.test('A task that was changed leads to its versions, and each to what it changed in words', async (t) => {
  const id = await postTask(app, alice, { prompt: 'Find the price of the ferry.' });
  const visitor = visit(app, alice);
  t.notMatch((await visitor.open(`/tasks/${id}`)).text, /Version/);
  clock.advance(60_000);
  await change(id, { prompt: 'Find the price of the night ferry.', maxTokens: 500, outputSchema: { type: 'object' } });
  const page = await visitor.open(`/tasks/${id}`);
  t.match(page.text, /Version 2/);
  const list = await visitor.follow(page, 'See what has changed');
  t.match(list, { status: 200, heading: 'Versions' });
  t.match(rows(list), [/Version 2 ?current.*the API.*Prompt, Maximum length and JSON schema/, /Version 1.*Created/]);
  const second = await visitor.follow(list, 'Version 2');
  t.match(second, { heading: 'Version 2', text: /Changes since version 1/ });
  t.equal(second.document.querySelector('.diff ins')?.text.trim(), 'night');
  t.match(rows(second), [/Maximum length.*1,024.*500/]);
  t.notMatch(second.text, /Restore/);
  const first = await visitor.open(`/tasks/${id}/versions/1`);
  t.match(first, { heading: 'Version 1', text: /What the first runs used.*Find the price of the ferry\..*Retries ?3/ });
});

t.test('A version is restored after a page that shows what that changes', async (t) => {
  const id = await postTask(app, alice, { prompt: 'Find the price of the ferry.' });
  await change(id, { prompt: 'Find the price of the night ferry.' });
  const visitor = visit(app, alice);
  const asked = await visitor.follow(await visitor.open(`/tasks/${id}/versions/1`), 'Restore this version');
  t.match(asked, { heading: 'Restore version 1', text: /Schedule, status and name stay/ });
  t.equal(asked.document.querySelector('.diff del')?.text.trim(), 'night');
  t.equal((await readTask(app, alice, id)).prompt, 'Find the price of the night ferry.', 'nothing is restored yet');
  const done = await visitor.submit(asked, 'Restore version 1');
  t.match(done, { status: 200, text: /Version 1 is restored, as version 3\./ });
  t.equal((await readTask(app, alice, id)).prompt, 'Find the price of the ferry.');
  const late = await visitor.submit(asked, 'Restore version 1');
  t.match(late, { status: 409, text: /The task was changed since.*nothing to restore/ });
});

t.test('What is lost is named on the page', async (t) => {
  const channel = await postChannel(app, alice);
  const other = await postTask(app, alice);
  const inputs = [{ taskId: other, name: 'other' }];
  const id = await postTask(app, alice, { channels: [channel.id], inputs });
  await change(id, { prompt: 'Another prompt.', channels: [], inputs: [] });
  const visitor = visit(app, alice);
  t.match((await visitor.open(`/tasks/${id}/versions/1`)).text, /Other tasks ?other Morning news.*Channels ?Phone/);
  await callChannel(app, alice, 'DELETE', channel.id);
  const asked = await visitor.open(`/tasks/${id}/versions/1/restore`);
  t.match(rows(asked), [/Other tasks/, /Channels.*none.*deleted/]);
  const refused = await visitor.submit(asked, 'Restore version 1');
  t.match(refused, { status: 422, text: /Channels: item 1 is not one of your channels\./ });
  t.equal((await readTask(app, alice, id)).prompt, 'Another prompt.');
});

t.test('A run says which version it used', async (t) => {
  const id = await postTask(app, alice, { aiModel: 'offline' });
  await change(id, { prompt: 'Another prompt.' });
  const { headers } = alice;
  const run = (await app.inject({ method: 'POST', url: `/api/tasks/${id}/execute`, headers })).json();
  await runDue(ctx);
  const visitor = visit(app, alice);
  const page = await visitor.open(`/executions/${run.executionId}`);
  t.match(page.text, /Used ?Version 2/);
  t.match(await visitor.follow(page, 'Version 2'), { heading: 'Version 2' });
  t.match((await visitor.open(`/tasks/${id}`)).text, /started by you, version 2/);
});

t.test('A change in the form is one of a page', async (t) => {
  const id = await postTask(app, alice);
  const visitor = visit(app, alice);
  const form = await visitor.open(`/tasks/${id}/edit`);
  await visitor.submit(form, 'Save task', { prompt: 'Another prompt.' });
  t.match(rows(await visitor.open(`/tasks/${id}/versions`)), [/Version 2.*a page.*Prompt/, /Version 1.*the API/]);
});

t.test("A stranger's versions, and those that do not exist, are not found", async (t) => {
  const id = await postTask(app, alice);
  const bob = visit(app, await signUp(app));
  for (const path of ['', '/1', '/1/restore']) {
    t.match(await bob.open(`/tasks/${id}/versions${path}`), { status: 404 });
  }
  const visitor = visit(app, alice);
  for (const path of ['/2', '/0', '/x', '/2/restore']) {
    t.match(await visitor.open(`/tasks/${id}/versions${path}`), { status: 404 });
  }
});

t.test('Text of the person stays text', async (t) => {
  const hostile = '"><script>alert(1)</script>';
  const id = await postTask(app, alice, { prompt: `Say ${hostile}.`, aiModel: `m${hostile}` });
  await change(id, { prompt: `Write ${hostile}.`, aiModel: `n${hostile}` });
  const visitor = visit(app, alice);
  for (const path of ['', '/1', '/2', '/1/restore']) {
    const { response } = await visitor.open(`/tasks/${id}/versions${path}`);
    t.notMatch(response.body, '<script>alert');
  }
});
