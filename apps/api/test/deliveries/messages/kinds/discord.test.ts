import t from 'tap';
import { discord as discordSender, renderDiscord } from '../../../../src/product/deliveries/messages/kinds/discord.ts';
import { attack } from '../support/hostile-answers.ts';
import { findBrokenMarkdown, findMarkdownLinks, removeCode } from '../support/markdown-target.ts';
import { buildMessage, buildSenderContext, startTarget, type TargetRequest } from '../support/target.ts';

const PATH = '/api/webhooks/1000000000000000000/hook-secret-of-the-test';

type Body = ReturnType<typeof renderDiscord>;

const listTexts = ({ embeds }: Body) => embeds.flatMap(({ title, description }) => [title, description]);

function measure({ embeds }: Body) {
  const sizes = embeds.map(({ title, description, footer }) => title.length + description.length + footer.text.length);
  return [
    { what: 'all embeds', size: sizes.reduce((sum, size) => sum + size, 0), limit: 6000 },
    ...embeds.flatMap(({ title, description, footer }) => [
      { what: 'a title', size: title.length || 9999, limit: 256 },
      { what: 'a description', size: description.length, limit: 4096 },
      { what: 'a footer', size: footer.text.length, limit: 2048 },
    ]),
  ];
}

/** Answers as the webhook of a channel does: without `wait` the answer does not say whether the message was stored. */
function judge({ path, headers, body }: TargetRequest) {
  const [route, query] = path.split('?');
  if (route !== PATH) return { status: 404, body: { message: 'Unknown Webhook', code: 10015 } };
  if (headers['content-type'] !== 'application/json') {
    return { status: 400, body: { message: 'Cannot send an empty message', code: 50006 } };
  }
  const parsed = JSON.parse(body) as Body;
  const wrong = measure(parsed).filter(({ size, limit }) => size > limit);
  if (wrong.length > 0) {
    const errors = { embeds: { _errors: wrong.map(({ what }) => ({ code: 'BASE_TYPE_MAX_LENGTH', message: what })) } };
    return { status: 400, body: { code: 50035, errors, message: 'Invalid Form Body' } };
  }
  return new URLSearchParams(query).get('wait') === 'true' ? { status: 200, body: { id: '1' } } : { status: 204 };
}

t.test('a message is an embed with its title, level, changes, answer and a link to the run', async (t) => {
  const ctx = buildSenderContext(t);
  const discord = await startTarget(t, judge);
  const send = (message = buildMessage()) =>
    discordSender.send(ctx, { url: `${discord.url}${PATH}?thread_id=5` }, { id: '1', channelId: '2', message });
  const changes = [{ path: 'price', from: 12.5, to: 11.9 }];
  const markdown =
    '**11.9** for @everyone <@1> snake_case, see [the shop](https://example.com/a_(b))\n\n```js\nlet a;\n```';
  t.same(await send(buildMessage({ changes, markdown })), { kind: 'answered', status: 200, error: null });
  t.match(discord.received[0], { path: `${PATH}?thread_id=5&wait=true` });
  t.same(JSON.parse(discord.received[0]?.body as string), {
    embeds: [
      {
        title: '✅ Prices',
        url: 'https://carillon.example.com/executions/7',
        description:
          '### What changed\n\n- price: `12.5` → `11.9`\n\n### The answer\n\n**11.9** for @\u200beveryone \\<@\u200b1\\> snake\\_case, see [the shop (example.com)](https://example.com/a_%28b%29)\n\n```js\nlet a;\n```',
        color: 0x2e7d32,
        timestamp: '2026-11-20T10:00:00.000Z',
        footer: { text: 'Completed · 20 November 2026 at 10:00' },
      },
    ],
    allowed_mentions: { parse: [] },
  });
  for (const answer of ['x'.repeat(100_000), `\`\`\`\n${'a < b\n'.repeat(9000)}\`\`\``, '😀*'.repeat(40_000)]) {
    t.equal((await send(buildMessage({ title: answer, markdown: answer }))).error, null);
    const { embeds } = JSON.parse(discord.received.at(-1)?.body as string) as Body;
    t.ok(embeds[0]?.description.endsWith('… ([continues in Carillon](https://carillon.example.com/executions/7))'));
  }
});

t.test('the answers of Discord decide about further attempts', async (t) => {
  const ctx = buildSenderContext(t);
  const discord = await startTarget(t, judge);
  const url = discord.url + PATH;
  const send = (settings = { url }) =>
    discordSender.send(ctx, settings, { id: '1', channelId: '2', message: buildMessage() });

  const limited = { message: 'You are being rate limited.', retry_after: 0.65, global: false };
  discord.answerNext({ status: 429, headers: { 'retry-after': '1' }, body: limited });
  t.same(await send(), {
    kind: 'answered',
    status: 429,
    error: 'The receiver answered 429: You are being rate limited.',
    retryAfterMs: 650,
  });
  discord.answerNext({ status: 429, headers: { 'retry-after': '3600' }, body: '<html>error code: 1015</html>' });
  t.match(await send(), { error: 'The receiver answered 429.', retryAfterMs: 3_600_000 });

  t.same(await send({ url: `${discord.url}/api/webhooks/1/deleted` }), {
    kind: 'answered',
    status: 404,
    error: 'The receiver answered 404: Unknown Webhook',
    isGone: true,
  });
  discord.answerNext({ status: 401, body: { message: 'Invalid Webhook Token', code: 50027 } });
  t.match(await send(), { isGone: true });
  discord.answerNext({ status: 403, body: { message: 'Missing Permissions', code: 50013 } });
  t.notOk((await send()).isGone);
  const errors = { embeds: { 0: { description: { _errors: [{ code: 'BASE_TYPE_MAX_LENGTH' }] } } } };
  discord.answerNext({ status: 400, body: { code: 50035, errors, message: 'Invalid Form Body' } });
  const { error, isGone } = await send();
  t.match(error, /^The receiver answered 400: Invalid Form Body \{"embeds".*BASE_TYPE_MAX_LENGTH/);
  t.notOk(isGone);
});

t.test('a hostile text stays text', (t) =>
  attack(t, {
    render: renderDiscord,
    measure,
    // `allowed_mentions` holds whatever the text has; in an embed nothing mentions.
    findMentions: (body) => [
      ...(body.allowed_mentions.parse.length > 0 || 'content' in body ? ['mentions are allowed'] : []),
      ...listTexts(body).flatMap(
        (text) => removeCode(text).match(/@(?:everyone|here)|(?<!\\)<(?:[@#:t]|id:|\/)/g) ?? [],
      ),
    ],
    findLinks: (body) => listTexts(body).flatMap(findMarkdownLinks),
    findBroken: (body) => listTexts(body).flatMap(findBrokenMarkdown),
  }),
);
