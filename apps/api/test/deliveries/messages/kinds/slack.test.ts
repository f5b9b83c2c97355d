import t from 'tap';
import { discord as discordSender } from '../../../../src/product/deliveries/messages/kinds/discord.ts';
import { renderSlack, slack as slackSender } from '../../../../src/product/deliveries/messages/kinds/slack.ts';
import { attack } from '../support/hostile-answers.ts';
import { buildMessage, buildSenderContext, startTarget, type TargetRequest } from '../support/target.ts';

const PATH = '/services/T00000000/B00000000/hook-secret-of-the-test';

interface SlackBlock {
  type: string;
  text?: { type: string; text: string };
  elements?: { type: string; text: string }[];
}

/** The texts with mrkdwn. */
const listMrkdwn = ({ text, blocks }: ReturnType<typeof renderSlack>) => [
  text,
  ...(blocks as SlackBlock[]).flatMap((block) =>
    [...(block.text ? [block.text] : []), ...(block.elements ?? [])].flatMap((one) =>
      one.type === 'mrkdwn' ? [one.text] : [],
    ),
  ),
];

function measure({ text, blocks }: ReturnType<typeof renderSlack>) {
  const all = blocks as SlackBlock[];
  return [
    { what: 'the text', size: text.length, limit: 40_000 },
    { what: 'the blocks', size: all.length, limit: 50 },
    { what: 'all blocks', size: all.reduce((sum, one) => sum + JSON.stringify(one).length, 0), limit: 16_000 },
    { what: 'all texts', size: all.reduce((sum, one) => sum + (one.text?.text.length ?? 0), 0), limit: 13_000 },
    ...all.map(({ type, text: one, elements = [] }) => {
      const size = one?.text.length ?? Math.max(...elements.map((element) => element.text.length));
      return { what: `a ${type}`, size: size || 9999, limit: type === 'header' ? 150 : 3000 };
    }),
  ];
}

/** Answers as an incoming webhook does. */
function judge({ method, path, headers, body }: TargetRequest) {
  if (path !== PATH) return { status: 404, body: 'no_service' };
  if (method !== 'POST' || headers['content-type'] !== 'application/json') {
    return { status: 400, body: 'invalid_payload' };
  }
  const isTooLong = measure(JSON.parse(body)).some(({ size, limit }) => size > limit);
  return isTooLong ? { status: 400, body: 'invalid_blocks' } : { status: 200, body: 'ok' };
}

t.test('a message has its title, level, changes, answer and a link to the run', async (t) => {
  const ctx = buildSenderContext(t);
  const slack = await startTarget(t, judge);
  const send = (message = buildMessage()) =>
    slackSender.send(ctx, { url: slack.url + PATH }, { id: '1', channelId: '2', message });
  const changes = [
    { path: 'price', from: 12.5, to: 11.9 },
    { path: '', from: 'a\nold', to: 'a\nnew' },
  ];
  const markdown =
    '## Now\n\n**11.9** & *less*, see [the shop](https://example.com/a?b=1&c=2)\n\n| a | b |\n|-|-|\n| 1 | 2 |';
  t.same(await send(buildMessage({ title: 'Prices: the answer changed', changes, markdown })), {
    kind: 'answered',
    status: 200,
    error: null,
  });
  const { text, blocks } = JSON.parse(slack.received[0]?.body as string);
  t.equal(text, '✅ Prices: the answer changed');
  t.same(blocks[0].text, { type: 'plain_text', text, emoji: false });
  t.equal(blocks[1].elements[0].text, 'Completed · 20 November 2026 at 10:00');
  t.equal(
    blocks[2].text.text,
    '*What changed*\n\n• price: `12.5` → `11.9`\n\n```\n  a\n- old\n+ new\n```\n\n*The answer*\n\n*Now*\n\n*11.9* &amp; _less_, see <https://example.com/a?b=1&amp;c=2|the shop (example.com)>\n\n```\na  b\n-  -\n1  2\n```',
  );
  t.equal(blocks[3].elements[0].text, '<https://carillon.example.com/executions/7|Open in Carillon>');

  const items = [buildMessage({ level: 'failure', title: 'One', markdown: null, text: 'It *broke*.' }), buildMessage()];
  t.equal((await send(buildMessage({ level: 'notice', title: '2 messages', markdown: null, items }))).error, null);
  const digest = listMrkdwn(JSON.parse(slack.received[1]?.body as string)).join('\n');
  t.match(digest, '*❌ One* · Failed · 20 November 2026 at 10:00 · <https://carillon.example.com/executions/7|open>');
  t.match(digest, 'It *broke*.');
  t.match(digest, 'It costs *11.9*.');

  for (const answer of [
    'x'.repeat(100_000),
    `\`\`\`\n${'let a = 1 < 2;\n'.repeat(9000)}\`\`\``,
    '😀&'.repeat(40_000),
  ]) {
    t.equal((await send(buildMessage({ title: answer, markdown: answer }))).error, null);
    const all = listMrkdwn(JSON.parse(slack.received.at(-1)?.body as string));
    t.equal(all.at(-2)?.slice(-69), '… (<https://carillon.example.com/executions/7|continues in Carillon>)');
    for (const one of all) t.equal((one.match(/```/g) ?? []).length % 2, 0);
  }
});

t.test('the answers of Slack decide about further attempts', async (t) => {
  const ctx = buildSenderContext(t);
  const slack = await startTarget(t, judge);
  const url = slack.url + PATH;
  const send = (settings = { url }) =>
    slackSender.send(ctx, settings, { id: '1', channelId: '2', message: buildMessage() });

  slack.answerNext({ status: 429, headers: { 'retry-after': '30' }, body: 'rate_limited' });
  t.same(await send(), {
    kind: 'answered',
    status: 429,
    error: 'The receiver answered 429: rate_limited',
    retryAfterMs: 30_000,
  });
  for (const [status, body] of [
    [404, 'no_service'],
    [404, 'channel_not_found'],
    [410, 'channel_is_archived'],
    [403, 'invalid_token'],
  ] as const) {
    slack.answerNext({ status, body });
    t.match(await send(), { status, error: `The receiver answered ${status}: ${body}`, isGone: true });
  }
  for (const [status, body] of [
    [403, 'action_prohibited'],
    [400, 'invalid_payload'],
    [500, 'rollup_error'],
  ] as const) {
    slack.answerNext({ status, body });
    const outcome = await send();
    t.match(outcome, { status, error: `The receiver answered ${status}: ${body}` });
    t.notOk(outcome.isGone);
  }
  slack.answerNext({
    status: 503,
    headers: { 'retry-after': 'Fri, 20 Nov 2026 10:02:00 GMT' },
    body: '<html>down</html>',
  });
  t.same(await send(), { kind: 'answered', status: 503, error: 'The receiver answered 503.', retryAfterMs: 120_000 });
  slack.answerNext({
    status: 500,
    headers: { 'retry-after': '99999999999' },
    body: `no\n${PATH} hook-secret-of-the-test`,
  });
  t.match(await send(), { error: 'The receiver answered 500: no … …', retryAfterMs: 24 * 60 * 60_000 });
  t.match(await send({ url: `${slack.url}/services/other` }), { status: 404, isGone: true });
});

t.test('the address is checked, and only its host is shown', async (t) => {
  const ctx = buildSenderContext(t);
  t.throws(() => slackSender.check(ctx, {}), { details: { url: ['is required'] } } as never);
  t.throws(() => slackSender.check(ctx, { url: 'https://169.254.169.254/x' }), {
    details: { url: ['must be a public address'] },
  } as never);
  slackSender.check(ctx, { url: `https://hooks.slack.com${PATH}` });
  t.same(discordSender.show({ url: 'https://discord.com/api/webhooks/1/secret?thread_id=2' }), {
    shown: { host: 'discord.com' },
    url: 'https://discord.com',
  });
});

t.test('a hostile text stays text', (t) =>
  attack(t, {
    render: renderSlack,
    measure,
    findMentions: (body) => listMrkdwn(body).flatMap((text) => text.match(/<[!@#][^>]*>/g) ?? []),
    findLinks: (body) =>
      listMrkdwn(body).flatMap((text) =>
        [...text.matchAll(/<([^|>]+)\|([^>]*)>/g)].map(([, href = '', shown = '']) => ({
          text: unescapeSlack(shown),
          href: unescapeSlack(href),
        })),
      ),
    findBroken: (body) =>
      listMrkdwn(body).flatMap((text) => [
        ...((text.match(/```/g) ?? []).length % 2 === 0 ? [] : ['a code block']),
        ...(text.replace(/<(?:https?:|mailto:)[^<>]*>/g, '').match(/<|&(?!(?:amp|lt|gt);)/g) ?? []),
      ]),
  }),
);

const unescapeSlack = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
