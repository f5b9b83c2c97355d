import t from 'tap';
import { buildNtfyRequest, ntfy } from '../../../../src/product/deliveries/messages/kinds/ntfy.ts';
import type { ChannelMessage } from '../../../../src/product/deliveries/messages/message.ts';
import { startNtfyServer } from '../servers/ntfy-server.ts';
import { attack, RUN_URL } from '../support/hostile-answers.ts';
import { readMarkdown } from '../support/read-markdown.ts';
import { createSendingContext, findInvalidFields } from '../support/sending-context.ts';

const TOKEN = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
const server = await startNtfyServer(t, TOKEN);
const ctx = createSendingContext(t);
const settings = { url: server.url, topic: 'private-prices', token: TOKEN };

const message: ChannelMessage = {
  reader: { language: 'en', timezone: null },
  level: 'success',
  title: 'Prices',
  text: null,
  markdown:
    '# Today\n\n**Bread** is 2 €, see [the list](https://shop.example/list).\n\n1. a\n2. b\n\n```js\nlet a = 1;\n```',
  citations: [],
  changes: [],
  url: RUN_URL,
  at: new Date('2026-11-20T10:00:00.000Z'),
  items: [],
};
const send = (changed: object = {}, given: Partial<ChannelMessage> = {}) =>
  ntfy.send(ctx, { ...settings, ...changed }, { id: 'd', channelId: 'c', message: { ...message, ...given } });

t.test('An answer arrives as Markdown with a title, tags, a priority and a link', async (t) => {
  t.same(await send(), { kind: 'answered', status: 200, error: null });
  const { bodyBytes: _, ...received } = server.messages.at(-1)!;
  t.same(received, {
    topic: 'private-prices',
    title: 'Prices',
    message:
      '### Today\n\n**Bread** is 2 €, see [the list (shop.example)](https://shop.example/list).\n\n1. a\n2. b\n\n```js\nlet a = 1;\n```',
    priority: 3,
    tags: ['white_check_mark'],
    click: RUN_URL,
    markdown: true,
  });
});

t.test('Failures and alarms have a higher priority, and a message without text is never empty', async (t) => {
  const build = (level: ChannelMessage['level']) => buildNtfyRequest({ ...message, level, markdown: null }, 'a');
  t.match(build('alert'), { priority: 4, tags: ['bell'], message: 'Alert · 20 November 2026 at 10:00' });
  t.match(build('failure'), { priority: 4, tags: ['x'] });
  t.match(build('recovery'), { priority: 3, tags: ['white_check_mark'] });
  t.match(build('notice'), { priority: 3, tags: ['information_source'] });
});

t.test('Long answers stay below the limits of the message and of the request', async (t) => {
  for (const markdown of ['ü'.repeat(50_000), '"\\\n'.repeat(20_000), 'word '.repeat(20_000)]) {
    t.match(await send({}, { markdown, title: 'é'.repeat(5000) }), { status: 200, error: null });
    const { message: text, bodyBytes } = server.messages.at(-1)!;
    t.ok(Buffer.byteLength(text) < 4096 && bodyBytes <= 8192, `${Buffer.byteLength(text)}, ${bodyBytes}`);
    t.match(text, /\[continues in Carillon\]\(https:\/\/carillon\.example\/executions\/7\)\)$/);
  }
});

t.test('A wrong or missing token ends the channel, and is in no error', async (t) => {
  const wrong = await send({ token: 'tk_wrong' });
  t.match(wrong, { status: 401, isGone: true, error: /the token is wrong or has expired/ });
  t.match(await send({ token: undefined }), { status: 403, isGone: true });
  t.match(await send({ token: undefined, topic: 'public' }), { status: 200 });
  t.notMatch(JSON.stringify(wrong), 'tk_wrong');
});

t.test('Rate limits and full servers are tried again, and the limit of a day the next day', async (t) => {
  const refuse = async (http: number, code: number, headers = {}) => {
    server.refuse({ http, code, error: 'limit reached', headers });
    const outcome = await send();
    server.refuse(null);
    t.notOk(outcome.isGone);
    return outcome;
  };
  t.equal((await refuse(429, 42901)).retryAfterMs, undefined, 'as after any failure');
  t.equal((await refuse(429, 42901, { 'retry-after': '20' })).retryAfterMs, 20_000, 'of a proxy');
  t.equal((await refuse(429, 42908)).retryAfterMs, 14 * 3_600_000, 'it is 10:00 UTC');
  t.match(await refuse(507, 50701), { status: 507, error: /needs a subscriber/ });
  t.match(await refuse(413, 41303), { status: 413 });
  t.match(await refuse(500, 50001), { status: 500 });
});

t.test('Settings that cannot be used are 400 and name the field', async (t) => {
  const check = (given: object) => findInvalidFields(() => ntfy.check(ctx, { ...settings, ...given }));
  t.same(check({}), []);
  t.same(check({ token: undefined }), []);
  for (const url of [
    undefined,
    'https://ntfy.sh/topic',
    'https://ntfy.sh/?a=b',
    'http://169.254.0.1',
    'https://a:b@ntfy.sh',
  ]) {
    t.same(check({ url }), ['url'], `${url}`);
  }
  t.same(check({ topic: undefined }), ['topic']);
  for (const token of ['a b', 'a\r\nX-Evil: 1', 'é']) t.same(check({ token }), ['token']);
  t.same(ntfy.show(settings), { shown: { url: server.url, topic: 'private-prices' }, url: server.url });
});

t.test('Hostile answers are published, and mask no link', async (t) => {
  await attack(t, {
    render: (message) => buildNtfyRequest(message, 'a'),
    measure: (request) => [
      { what: 'the message', size: Buffer.byteLength(request.message), limit: 4095 },
      { what: 'the request', size: Buffer.byteLength(JSON.stringify(request)), limit: 8192 },
      { what: 'the title', size: request.title.length, limit: 200 },
    ],
    findMentions: () => [],
    findLinks: (request) => readMarkdown(request.message).links,
    findBroken: ({ message, title }) => [
      ...readMarkdown(message).html,
      ...(message.trim() === '' ? ['there is no text'] : []),
      ...(/[\r\n]/.test(title) ? ['the title has lines'] : []),
    ],
  });
});
