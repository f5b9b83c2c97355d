import t from 'tap';
import { renderTeams, teams as teamsSender } from '../../../../src/product/deliveries/messages/kinds/teams.ts';
import { attack } from '../support/hostile-answers.ts';
import { findMarkdownLinks } from '../support/markdown-target.ts';
import { buildMessage, buildSenderContext, startTarget, type TargetRequest } from '../support/target.ts';

const PATH = '/workflows/0123456789abcdef/triggers/manual/paths/invoke?api-version=1&sig=signature-of-the-test';
/** Documented are about 28 KB; connectors were seen to reject 21,000 bytes. */
const MAX_BYTES = 21_000;

type Body = ReturnType<typeof renderTeams>;

const toError = (status: number, code: string, message: string) => ({ status, body: { error: { code, message } } });
const listTexts = ({ attachments }: Body) => attachments.flatMap(({ content }) => content.body.map(({ text }) => text));

/** Answers as a workflow does: 202 before it posts. */
function judge({ path, headers, body }: TargetRequest) {
  if (path !== PATH) return toError(401, 'DirectApiInvalidAuthorizationSignature', 'The signature is not valid.');
  if (headers['content-type'] !== 'application/json') return toError(400, 'InvalidRequestContent', 'No JSON.');
  if (Buffer.byteLength(body) > MAX_BYTES) return toError(413, 'RequestEntityTooLarge', 'Too large.');
  const { type, attachments } = JSON.parse(body) as Body;
  const [card] = attachments;
  const isCard =
    type === 'message' &&
    card?.contentType === 'application/vnd.microsoft.card.adaptive' &&
    card.content.type === 'AdaptiveCard' &&
    card.content.body.every((element) => element.type === 'TextBlock' && element.text !== '');
  return isCard ? { status: 202 } : toError(400, 'TriggerInputSchemaMismatch', 'No card.');
}

t.test('a message is a card with its title, level, changes, answer and a button to the run', async (t) => {
  const ctx = buildSenderContext(t);
  const teams = await startTarget(t, judge);
  const send = (message = buildMessage()) =>
    teamsSender.send(ctx, { url: teams.url + PATH }, { id: '1', channelId: '2', message });
  const changes = [{ path: 'price', from: 12.5, to: 11.9 }];
  const markdown =
    '# Now\n\n**11.9** `a_b` {{DATE(2026-11-20)}} <at>all</at>\nnext\n\n```\nif (a) {\n  b\n}\n```\n\n---\n\n[shop](https://example.com/)';
  t.same(await send(buildMessage({ level: 'alert', changes, markdown })), {
    kind: 'answered',
    status: 202,
    error: null,
  });
  const body = JSON.parse(teams.received[0]?.body as string) as Body;
  t.same(listTexts(body), [
    '🔔 Prices',
    'Alert · 20 November 2026 at 10:00',
    '**What changed**',
    '- price: 12.5 → 11.9',
    '**The answer**',
    '**Now**',
    '**11.9** a\\_b {\u200b{DATE(2026-11-20)}} \\<at\\>all\\</at\\>\n\nnext',
    'if (a) {\n\n\u00a0\u00a0b\n\n}',
    ' ',
    '[shop (example.com)](https://example.com/)',
  ]);
  t.match(body.attachments[0]?.content, {
    version: '1.4',
    body: [{ color: 'Warning' }],
    actions: [{ type: 'Action.OpenUrl', url: 'https://carillon.example.com/executions/7' }],
  });
  for (const answer of ['x'.repeat(100_000), `\`\`\`\n${'a < b\n'.repeat(9000)}\`\`\``, '😀*'.repeat(40_000)]) {
    t.equal((await send(buildMessage({ title: answer, markdown: answer }))).error, null);
    const texts = listTexts(JSON.parse(teams.received.at(-1)?.body as string));
    t.equal(texts.at(-1), '… ([continues in Carillon](https://carillon.example.com/executions/7))');
  }
});

t.test('the answers of Teams decide about further attempts', async (t) => {
  const ctx = buildSenderContext(t);
  const teams = await startTarget(t, judge);
  const url = teams.url + PATH;
  const send = (settings = { url }) =>
    teamsSender.send(ctx, settings, { id: '1', channelId: '2', message: buildMessage() });

  teams.answerNext({ ...toError(429, 'TooManyRequests', 'Slow down.'), headers: { 'retry-after': '12' } });
  t.same(await send(), {
    kind: 'answered',
    status: 429,
    error: 'The receiver answered 429: TooManyRequests: Slow down.',
    retryAfterMs: 12_000,
  });
  for (const [status, code, message, isGone] of [
    [404, 'WorkflowNotFound', 'There is no workflow.', true],
    [400, 'WorkflowTriggerIsNotEnabled', "The trigger has the state 'Deleted'.", true],
    [400, 'WorkflowTriggerIsNotEnabled', "The trigger has the state 'Disabled'.", false],
    [413, 'RequestEntityTooLarge', 'Too large.', false],
  ] as const) {
    teams.answerNext(toError(status, code, message));
    const error = `The receiver answered ${status}: ${code}: ${message}`;
    t.match(await send(), { status, error, isGone: isGone || undefined });
  }
  const failed = (status: number) =>
    `Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error ${status} with ContextId x.`;
  teams.answerNext({ status: 200, body: failed(429) });
  t.match(await send(), { status: 200, error: `The receiver answered 200: ${failed(429)}`, isGone: undefined });
  teams.answerNext({ status: 200, body: failed(404) });
  t.match(await send(), { isGone: true });
  teams.answerNext({ status: 200, body: '1' });
  t.same(await send(), { kind: 'answered', status: 200, error: null });
  const wrong = await send({ url: `${teams.url}/workflows/1?sig=another-signature` });
  t.match(wrong, {
    status: 401,
    error: 'The receiver answered 401: DirectApiInvalidAuthorizationSignature: The signature is not valid.',
  });
});

t.test('a hostile text stays text', (t) =>
  attack(t, {
    render: renderTeams,
    measure: (body) => [{ what: 'the card', size: Buffer.byteLength(JSON.stringify(body)), limit: MAX_BYTES }],
    // Mentions need entities besides the text.
    findMentions: (body) => [
      ...(JSON.stringify(body).includes('"entities"') ? ['entities'] : []),
      ...listTexts(body).flatMap((text) => text.match(/(?<!\\)<at|\{\{/g) ?? []),
    ],
    findLinks: (body) => listTexts(body).flatMap(findMarkdownLinks),
    findBroken: (body) => listTexts(body).flatMap((text) => (text === '' ? ['an empty text block'] : [])),
  }),
);
