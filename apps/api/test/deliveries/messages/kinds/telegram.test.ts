import t from 'tap';
import { buildTelegramRequest, telegram } from '../../../../src/product/deliveries/messages/kinds/telegram.ts';
import type { ChannelMessage } from '../../../../src/product/deliveries/messages/message.ts';
import { parseTelegramHtml } from '../servers/telegram-html.ts';
import { startTelegramServer } from '../servers/telegram-server.ts';
import { attack, RUN_URL } from '../support/hostile-answers.ts';
import { createSendingContext, findInvalidFields } from '../support/sending-context.ts';

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0';
const CHAT = '-1001234567890';
const server = await startTelegramServer(t, TOKEN, [CHAT, '@prices', '-100999']);
const ctx = createSendingContext(t, { TELEGRAM_API_URL: server.url });

const message: ChannelMessage = {
  reader: { language: 'en', timezone: null },
  level: 'success',
  title: 'Prices & more',
  text: null,
  markdown:
    '# Today\n\n**Bread** is <2 €, see [the list](https://shop.example/list).\n\n- a\n- b\n\n```js\nlet a = 1 < 2;\n```',
  citations: [],
  changes: [{ path: 'bread', from: 1, to: 2 }],
  url: RUN_URL,
  at: new Date('2026-11-20T10:00:00.000Z'),
  items: [],
};
const send = (settings = {}, given: Partial<ChannelMessage> = {}) =>
  telegram.send(
    ctx,
    { botToken: TOKEN, chatId: CHAT, ...settings },
    {
      id: '5f0c1c9e-1111-4222-8333-444455556666',
      channelId: '5f0c1c9e-1111-4222-8333-444455556667',
      message: { ...message, ...given },
    },
  );

t.test('An answer arrives with its formatting, what changed and a link to the run', async (t) => {
  t.same(await send(), { kind: 'answered', status: 200, error: null });
  const { text, entities } = server.messages.at(-1)!;
  t.equal(
    text,
    [
      '✅ Prices & more\nCompleted · 20 November 2026 at 10:00',
      'What changed',
      '• bread: 1 → 2',
      'The answer',
      'Today',
      'Bread is <2 €, see the list (shop.example).',
      '• a\n• b',
      'let a = 1 < 2;',
      'Open in Carillon',
    ].join('\n\n'),
  );
  const find = (type: string) =>
    entities.filter((one) => one.type === type).map(({ offset, length }) => text.slice(offset, offset + length));
  t.same(find('bold'), ['✅ Prices & more', 'What changed', 'The answer', 'Today', 'Bread']);
  t.same(find('code').sort(), ['1', '2', 'let a = 1 < 2;']);
  t.same(find('pre'), ['let a = 1 < 2;']);
  const links = entities.filter(({ type }) => type === 'text_link').map(({ url }) => url);
  t.same(links, ['https://shop.example/list', RUN_URL]);
});

t.test('A long answer is cut at 4096 units after its entities are parsed', async (t) => {
  const markdown = `\`\`\`\n${'if (a < b && c > d) {}\n'.repeat(1000)}\`\`\``;
  t.match(await send({}, { markdown }), { status: 200, error: null });
  const { text, html } = server.messages.at(-1)!;
  t.ok(text.length > 3900 && text.length <= 4096, `${text.length}`);
  t.ok(html.length > 4096, 'tags and entities do not count');
  t.match(text, /… \(continues in Carillon\)\n\nOpen in Carillon$/);
});

t.test('A message with more entities than Telegram keeps still links to the run', async (t) => {
  t.match(await send({}, { markdown: '**a** '.repeat(600) }), { status: 200 });
  const { entities } = server.messages.at(-1)!;
  t.ok(entities.length <= 100, `${entities.length}`);
  t.ok(entities.some(({ url }) => url === RUN_URL));
});

t.test('A rate limit has its wait in the answer', async (t) => {
  const description = 'Too Many Requests: retry after 37';
  server.refuse(CHAT, { code: 429, description, parameters: { retry_after: 37 } });
  const outcome = await send();
  server.refuse(CHAT, null);
  t.match(outcome, { status: 429, retryAfterMs: 37_000, error: `The receiver answered 429: ${description}` });
  t.notOk(outcome.isGone);
});

t.test('A chat that will never take a message again ends the channel', async (t) => {
  for (const [code, description] of [
    [403, 'Forbidden: bot was blocked by the user'],
    [403, 'Forbidden: bot was kicked from the supergroup chat'],
    [403, 'Forbidden: user is deactivated'],
    [403, "Forbidden: bot can't initiate conversation with a user"],
    [400, 'Bad Request: chat not found'],
    [403, 'Forbidden: the group chat was deleted'],
  ] as const) {
    server.refuse(CHAT, { code, description });
    t.match(await send(), { status: code, isGone: true, error: `The receiver answered ${code}: ${description}` });
  }
  server.refuse(CHAT, null);
  t.match(await send({ chatId: '42' }), { status: 400, isGone: true });
});

t.test('What passes, or is about one message, does not end the channel', async (t) => {
  for (const [code, description] of [
    [403, "Forbidden: bot can't send messages to the user"],
    [400, 'Bad Request: message is too long'],
    [400, "Bad Request: can't parse entities: Unclosed start tag at byte offset 4"],
    [500, 'Internal Server Error'],
    [502, 'Bad Gateway'],
  ] as const) {
    server.refuse(CHAT, { code, description });
    const outcome = await send();
    t.match(outcome, { status: code, error: description });
    t.notOk(outcome.isGone);
  }
  server.refuse(CHAT, null);
});

t.test('A revoked token ends the channel, and is in no error', async (t) => {
  const botToken = '110201543:revoked-revoked-revoked-revoked';
  const revoked = await send({ botToken });
  t.match(revoked, { status: 401, isGone: true, error: 'The receiver answered 401: Unauthorized' });
  server.refuse(CHAT, {
    code: 400,
    description: `Bad Request: /bot${TOKEN}/sendMessage by ${TOKEN} or ${encodeURIComponent(TOKEN)}`,
  });
  const { error } = await send();
  server.refuse(CHAT, null);
  t.notMatch(error, TOKEN.slice(10, 30));
});

t.test('A group that became a supergroup gets the message under its other id', async (t) => {
  const description = 'Bad Request: group chat was upgraded to a supergroup chat';
  server.refuse('-77', { code: 400, description, parameters: { migrate_to_chat_id: -1001234567890 } });
  const before = server.requests;
  t.match(await send({ chatId: '-77' }), { status: 200, error: null });
  t.equal(server.requests, before + 2);
  t.equal(server.messages.at(-1)?.chatId, CHAT);
  server.refuse(CHAT, { code: 400, description, parameters: { migrate_to_chat_id: -77 } });
  t.match(await send({ chatId: '-77' }), { status: 400 }, 'two chats that lead to each other end after two requests');
  t.equal(server.requests, before + 4);
  server.refuse(CHAT, null);
  server.refuse('-77', null);
});

t.test('An answer that is not of the Bot API is a failure', async (t) => {
  const other = createSendingContext(t, { TELEGRAM_API_URL: `${server.url}/elsewhere` });
  const outgoing = { id: 'a', channelId: 'b', message };
  t.match(await telegram.send(other, { botToken: TOKEN, chatId: CHAT }, outgoing), { status: 404 });
});

t.test('Settings that cannot be used are 400 and name the field', async (t) => {
  const check = (given: object) =>
    findInvalidFields(() => telegram.check(ctx, { botToken: TOKEN, chatId: CHAT, ...given }));
  for (const chatId of [CHAT, '42', '@prices']) t.same(check({ chatId }), [], chatId);
  for (const chatId of [undefined, 'prices', '4.5', '@a b', '@', '1/../2']) t.same(check({ chatId }), ['chatId']);
  for (const botToken of [undefined, 'x', '1:/../..', `${TOKEN}/test?a=`, `${TOKEN}\n`, 'bot1:a']) {
    t.same(check({ botToken }), ['botToken'], `${botToken}`);
  }
  t.same(telegram.show({ botToken: TOKEN, chatId: CHAT }), {
    shown: { chatId: CHAT },
    url: 'https://api.telegram.org',
  });
});

t.test('Hostile answers are accepted, have no mention and mask no link', async (t) => {
  await attack(t, {
    render: (message) => {
      const { text: html, ...request } = buildTelegramRequest(message);
      return { html, ...request, ...parseTelegramHtml(html) };
    },
    measure: ({ text, entities }) => [
      { what: 'the text', size: text.length, limit: 4096 },
      { what: 'the entities', size: entities.length, limit: 100 },
    ],
    findMentions: ({ text, entities }) => [
      ...entities
        .filter(({ type }) => type === 'mention')
        .map(({ offset, length }) => text.slice(offset, offset + length)),
      ...entities.flatMap(({ url = '' }) => (url.startsWith('tg:') ? [url] : [])),
    ],
    findLinks: ({ text, entities }) =>
      entities.flatMap(({ url, offset, length }) =>
        url === undefined ? [] : [{ text: text.slice(offset, offset + length), href: url }],
      ),
    // The parser throws for what Telegram rejects.
    findBroken: ({ text }) => (text.trim() === '' ? ['there is no text'] : []),
  });
});
