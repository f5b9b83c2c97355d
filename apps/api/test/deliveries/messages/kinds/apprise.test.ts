import t from 'tap';
import { apprise, buildAppriseRequest } from '../../../../src/product/deliveries/messages/kinds/apprise.ts';
import type { ChannelMessage } from '../../../../src/product/deliveries/messages/message.ts';
import { startAppriseServer } from '../servers/apprise-server.ts';
import { attack, RUN_URL } from '../support/hostile-answers.ts';
import { readMarkdown } from '../support/read-markdown.ts';
import { createSendingContext, findInvalidFields } from '../support/sending-context.ts';

const server = await startAppriseServer(t, {
  home: ['ntfys://secret-topic'],
  empty: [],
  half: ['json://a', 'fail://b'],
});
const ctx = createSendingContext(t);

const message: ChannelMessage = {
  reader: { language: 'en', timezone: null },
  level: 'failure',
  title: 'Prices: the run failed',
  text: 'The model <b> did not answer.\nTwice.',
  markdown: null,
  citations: [],
  changes: [],
  url: RUN_URL,
  at: new Date('2026-11-20T10:00:00.000Z'),
  items: [],
};
const send = (settings: object) =>
  apprise.send(ctx, { url: server.url, ...settings }, { id: 'd', channelId: 'c', message });

t.test('A message goes to the services of the channel, or of a configuration', async (t) => {
  const urls = ['discord://123/abc-secret', 'mailto://user:pass@example.com'];
  t.same(await send({ urls }), { kind: 'answered', status: 200, error: null });
  t.same(server.messages.at(-1), {
    key: null,
    urls,
    title: '❌ Prices: the run failed',
    body: `The model \\<\u2060b\\> did not answer.\nTwice.\n\nFailed · 20 November 2026 at 10:00 · [Open in Carillon](${RUN_URL})`,
    type: 'failure',
    format: 'markdown',
  });
  t.same(await send({ key: 'home', url: `${server.url}/` }), { kind: 'answered', status: 200, error: null });
  t.match(server.messages.at(-1), { key: 'home', urls: ['ntfys://secret-topic'] });
});

t.test('The type of a message follows its level', async (t) => {
  const typeOf = (level: ChannelMessage['level']) => buildAppriseRequest({ ...message, level }).type;
  t.same((['success', 'failure', 'alert', 'recovery', 'notice'] as const).map(typeOf), [
    'success',
    'failure',
    'warning',
    'success',
    'info',
  ]);
});

t.test('An answer that nothing was sent is a failure', async (t) => {
  t.match(await send({ key: 'unknown' }), { status: 204, error: /nothing was sent/ });
  t.match(await send({ key: 'empty' }), { status: 204, error: /nothing was sent/ });
  const half = await send({ key: 'half' });
  t.match(half, { status: 424, error: /at least one of the services did not take the message/ });
  t.notOk(half.isGone);
});

t.test('A server that does not allow it ends the channel, others are tried again', async (t) => {
  for (const status of [401, 403]) {
    server.refuse({ status });
    t.match(await send({ key: 'home' }), { status, isGone: true });
  }
  server.refuse({ status: 503, headers: { 'retry-after': '120' } });
  t.match(await send({ key: 'home' }), { status: 503, retryAfterMs: 120_000 });
  for (const status of [400, 404, 405, 421, 431, 500, 502]) {
    server.refuse({ status });
    const outcome = await send({ key: 'home-secret' });
    t.match(outcome, { status, error: `The receiver answered ${status}` });
    t.notOk(outcome.isGone);
    t.notMatch(outcome.error, 'home-secret');
  }
  server.refuse(null);
});

t.test('Settings that cannot be used are 400 and name the field', async (t) => {
  const check = (given: object) => findInvalidFields(() => apprise.check(ctx, { url: server.url, ...given }));
  t.same(check({ key: 'a' }), []);
  t.same(check({ urls: ['ntfy://topic', 'mailto://u:p@example.com?to=a@b.example'] }), []);
  t.same(check({}), ['urls']);
  t.same(check({ urls: ['ntfy://a'], key: 'a' }), ['key']);
  t.same(check({ urls: ['ntfy://a', 'nothing'] }), ['urls']);
  t.same(check({ urls: ['ntfy://a, mailto://b'] }), ['urls']);
  t.same(check({ key: 'a'.repeat(65) }), ['key']);
  for (const url of [undefined, 'http://169.254.0.1', 'https://a.example/notify/key', 'https://a.example/?x=1']) {
    t.same(check({ key: 'a', url }), ['url'], `${url}`);
  }
  const { shown, url } = apprise.show({ url: server.url, urls: ['discord://secret'], key: 'secret' });
  t.same([shown, url], [{ url: server.url }, server.url]);
});

t.test('Hostile answers are sent, have no mention and mask no link', async (t) => {
  await attack(t, {
    render: buildAppriseRequest,
    measure: ({ title, body }) => [
      { what: 'the body', size: body.length, limit: 1800 },
      { what: 'the title', size: title.length, limit: 250 },
    ],
    // What Apprise passes on to Slack, Discord and Telegram, wherever it stands.
    findMentions: ({ title, body }) =>
      [...`${title}\n${body}`.matchAll(/@(?:everyone|here|channel|all|room)\b|<[@!#][^\s>]+>|<at?\b/gi)].map(
        ([mention]) => mention,
      ),
    findLinks: ({ title, body }) => [...readMarkdown(title).links, ...readMarkdown(body).links],
    findBroken: ({ title, body }) => [...readMarkdown(title).html, ...readMarkdown(body).html],
  });
});
