import t from 'tap';
import { createDeliverer } from '../../../src/product/deliveries/queue/deliverer.ts';
import { buildDigest } from '../../../src/product/deliveries/queue/held/release.ts';
import { parseFeed, postFeed } from '../../deliveries/feeds/support.ts';
import { postChannel } from '../../support/channels.ts';
import { testEngine } from '../../support/engine.ts';
import { confirmAddresses, deliverDueMails } from '../../support/mails.ts';
import { signUp } from '../../support/people.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { insertTask, readRun, readRuns } from '../../support/task-rows.ts';
import { postTask } from '../../support/tasks.ts';
import { postWebhook } from '../../support/webhooks.ts';

const mailServer = await startMailServer(t);
const { app, ctx, ai, alice, clock, runDue } = await testEngine(t, { SMTP_URL: mailServer.url });
const receiver = await startReceiver(t);
const NOTE = 'This answer is cut off: it reached the maximum length.';

t.test('An answer that a limit of tokens or of size cut off is truncated, and a whole one is not', async (t) => {
  const outputSchema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
  for (const [answer, truncated, values] of [
    [{ text: 'Titan' }, false, {}],
    [{ text: 'Titan', finishReason: 'length' }, true, {}],
    [{ text: 'Titan', finishReason: 'MAX_TOKENS' }, true, {}],
    [{ text: '{"price": 1} and', finishReason: 'length' }, true, { outputSchema }],
    [{ text: '{"price": 1}' }, false, { outputSchema }],
    [{ text: 'x'.repeat(1024 * 1024 + 1) }, true, {}],
  ] as const) {
    ai.answer(() => answer);
    const task = await insertTask(ctx, alice().id, values);
    await runDue(t);
    t.match(await readRun(ctx, task), { status: 'completed', truncated });
  }
});

t.test('Reasoning is neither in the result, nor compared, nor read as JSON', async (t) => {
  const watched = await insertTask(ctx, alice().id, { recurrence: 'daily', notify: 'change' });
  for (const thought of ['Once', 'Twice, differently']) {
    ai.answer(() => ({ text: `<think>\n${thought} {"price": 7}\n</think>\n\nThe price is 5.` }));
    await runDue(t);
    clock.advance(24 * 60 * 60_000);
  }
  const runs = await readRuns(ctx, watched);
  t.match(runs, [{ changed: null }, { changed: false, changes: [], result: 'The price is 5.' }]);
  const outputSchema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
  ai.answer(() => ({ text: 'I need {"price": 7}.\n</think>\n{"price": 5}' }));
  const task = await insertTask(ctx, alice().id, { outputSchema });
  await runDue(t);
  t.match(await readRun(ctx, task), { result: '{"price": 5}', output: { price: 5 } });
});

t.test('The API, channels, mails, feeds and assistants say so, and the data of events does not', async (t) => {
  const person = await signUp(app);
  const { headers } = person;
  await confirmAddresses(ctx, person.id, ['results@example.com']);
  await postWebhook(app, person, { url: `${receiver.url}/hook`, events: ['execution.completed'] });
  const slack = { kind: 'slack', name: 'Team', url: `${receiver.url}/services/slack`, topic: undefined } as const;
  const channel = await postChannel(app, person, slack);
  const task = await postTask(app, person, { channels: [channel.id], notificationEmail: 'results@example.com' });
  const feed = await postFeed(app, person, task);
  for (const finishReason of ['length', 'stop']) {
    const isCut = finishReason === 'length';
    receiver.received.splice(0);
    mailServer.received.splice(0);
    ai.answer(() => ({ text: 'Titan', finishReason }));
    const posted = await app.inject({ method: 'POST', url: `/api/tasks/${task}/execute`, headers });
    await runDue(t);
    await createDeliverer(ctx).drain();
    await deliverDueMails(ctx);
    const url = `/api/executions/${posted.json().executionId}`;
    t.equal((await app.inject({ url, headers })).json().execution.truncated, isCut);
    const bodyOf = (path: string) => String(receiver.received.find((one) => one.path === path)?.body);
    t.equal(bodyOf('/services/slack').includes(NOTE), isCut);
    t.notMatch(bodyOf('/hook'), /isCut|truncated/);
    t.equal(mailServer.received.at(-1)?.text?.includes(NOTE), isCut);
    t.equal(parseFeed((await app.inject({ url: feed })).body).entries[0]?.content?.includes(NOTE), isCut);
    const { events } = (await app.inject({ url: '/api/events?kinds=execution.completed', headers })).json();
    t.notMatch(JSON.stringify(events), /isCut|truncated/);
  }
});

t.test('A digest keeps it', async (t) => {
  const execution = { id: 1, result: 'Titan' };
  const stored = { event: 'execution.completed', timestamp: '', data: { task: {}, execution }, isCut: true };
  t.match(JSON.parse(buildDigest([JSON.stringify(stored)], 0, new Date())).data.messages, [{ isCut: true }]);
});
