import t from 'tap';
import {
  mattermost as mattermostSender,
  renderMattermost,
} from '../../../../src/product/deliveries/messages/kinds/mattermost.ts';
import { attack } from '../support/hostile-answers.ts';
import { findBrokenMarkdown, findMarkdownLinks, removeCode } from '../support/markdown-target.ts';
import { buildMessage, buildSenderContext, startTarget, type TargetRequest } from '../support/target.ts';

const PATH = '/hooks/hook-secret-of-the-test-1';
const MAX_LENGTH = 16_383;

type Body = ReturnType<typeof renderMattermost>;

const toError = (status: number, id: string, message: string) => ({
  status,
  body: { id, message, detailed_error: '', request_id: 'r1', status_code: status },
});

/** Answers as a Mattermost server does. A text that is too long would become several posts. */
function judge({ path, headers, body }: TargetRequest) {
  if (path !== PATH) return toError(400, 'web.incoming_webhook.invalid.app_error', 'Invalid webhook.');
  if (headers['content-type'] !== 'application/json') {
    return toError(400, 'web.incoming_webhook.parse.app_error', 'Unable to parse incoming data.');
  }
  const { text } = JSON.parse(body) as Body;
  if (!text) return toError(400, 'web.incoming_webhook.text.app_error', 'No text specified.');
  return [...text].length > MAX_LENGTH ? toError(413, 'api.too_long', 'Too long.') : { status: 200, body: 'ok' };
}

t.test('a message has its title, level, changes, answer and a link to the run', async (t) => {
  const ctx = buildSenderContext(t);
  const mattermost = await startTarget(t, judge);
  const send = (message = buildMessage()) =>
    mattermostSender.send(ctx, { url: mattermost.url + PATH }, { id: '1', channelId: '2', message });
  const changes = [{ path: 'price', from: 12.5, to: 11.9 }];
  const markdown =
    '**11.9** @all a@example.com <!channel> 1 > 0\n\n1) one\n\n| a | b |\n|-|-|\n| 1 | `x|y` |\n\nsee https://example.com/@here `<!here>`';
  t.same(await send(buildMessage({ changes, markdown })), { kind: 'answered', status: 200, error: null });
  t.same(JSON.parse(mattermost.received[0]?.body as string), {
    text: '**✅ Prices**\nCompleted · 20 November 2026 at 10:00 · [Open in Carillon](https://carillon.example.com/executions/7)\n\n#### What changed\n\n- price: `12.5` → `11.9`\n\n#### The answer\n\n**11.9** @\u200ball a@example.com <\u200b!channel> 1 > 0\n\n1. one\n\n| a | b |\n| --- | --- |\n| 1 | \\`x |\n\nsee <https://example.com/%40here> `<\u200b!here>`',
  });
  for (const answer of ['x'.repeat(100_000), `\`\`\`\n${'a < b\n'.repeat(9000)}\`\`\``, '😀*'.repeat(40_000)]) {
    t.equal((await send(buildMessage({ title: answer, markdown: answer }))).error, null);
    const { text } = JSON.parse(mattermost.received.at(-1)?.body as string) as Body;
    t.ok(text.endsWith('… ([continues in Carillon](https://carillon.example.com/executions/7))'));
  }
});

t.test('the answers of Mattermost decide about further attempts', async (t) => {
  const ctx = buildSenderContext(t);
  const mattermost = await startTarget(t, judge);
  const url = mattermost.url + PATH;
  const send = (settings = { url }) =>
    mattermostSender.send(ctx, settings, { id: '1', channelId: '2', message: buildMessage() });

  mattermost.answerNext({ status: 429, headers: { 'x-ratelimit-reset': '7' }, body: 'limit exceeded' });
  t.same(await send(), {
    kind: 'answered',
    status: 429,
    error: 'The receiver answered 429: limit exceeded',
    retryAfterMs: 7000,
  });
  mattermost.answerNext({ status: 429, headers: { 'retry-after': '3', 'x-ratelimit-reset': '7' } });
  t.match(await send(), { error: 'The receiver answered 429.', retryAfterMs: 3000 });
  t.same(await send({ url: `${mattermost.url}/hooks/deleted` }), {
    kind: 'answered',
    status: 400,
    error: 'The receiver answered 400: Invalid webhook.',
    isGone: true,
  });
  for (const [status, id, isGone] of [
    [404, 'web.incoming_webhook.channel.app_error', true],
    [400, 'api.post.create_post.can_not_post_to_deleted.error', true],
    [403, 'web.incoming_webhook.permissions.app_error', true],
    [400, 'web.incoming_webhook.parse.app_error', false],
    [501, 'web.incoming_webhook.disabled.app_error', false],
  ] as const) {
    mattermost.answerNext(toError(status, id, 'No.'));
    t.match(await send(), { status, error: `The receiver answered ${status}: No.`, isGone: isGone || undefined }, id);
  }
});

t.test('a hostile text stays text', (t) =>
  attack(t, {
    render: renderMattermost,
    measure: ({ text }) => [{ what: 'the text', size: [...text].length, limit: MAX_LENGTH }],
    // Announcements of Slack are turned into mentions wherever they are; others only outside of code.
    findMentions: ({ text }) => [
      ...(text.match(/<[!@]\w+/g) ?? []),
      ...(removeCode(text).match(/(?<![a-z0-9])@[\w.-]+/gi) ?? []),
    ],
    findLinks: ({ text }) => findMarkdownLinks(text),
    findBroken: ({ text }) => findBrokenMarkdown(text),
  }),
);
