import { getTexts } from '@carillon/texts';
import { escapeMarkdown, type MarkdownDialect, renderMarkdown, ZERO_WIDTH_SPACE } from '../format/markdown-text.ts';
import { describeStatus, describeTitle, fitMessage } from '../format/message-blocks.ts';
import { countCodePoints, cutText } from '../format/text.ts';
import type { Block } from '../format/tree.ts';
import { HOOK } from '../hook-url.ts';
import type { ChannelMessage } from '../message.ts';
import { type AnswerReading, postToTarget, readJson, readText } from '../post.ts';
import type { ChannelSender } from '../sender.ts';

/** Of a post, in code points. */
const MAX_LENGTH = 16_383;
const MAX_TITLE = 200;
/** Ids of errors that no later attempt changes. */
const GONE =
  /^(web\.incoming_webhook\.(invalid|channel|user|permissions)\.|api\.post\.create_post\.can_not_post_to_deleted\.)/;

/** Mattermost turns `<!channel>` and `<@id>` into mentions before it reads Markdown, and `<https:…>` into a link. */
const breakAngles = (text: string) => text.replace(/<(?=[!@#]|[a-z][a-z\d+.-]*:)/gi, `<${ZERO_WIDTH_SPACE}`);

const DIALECT: MarkdownDialect = {
  // An address of mail is no mention.
  escape: (text) =>
    escapeMarkdown(breakAngles(text))
      .replace(/\\([<>])/g, '$1')
      .replace(/^>/gm, '\\>')
      .replace(/(?<![a-z0-9])@/gi, `@${ZERO_WIDTH_SPACE}`),
  escapeCode: breakAngles,
  plainLink: (url) => `<${url.replaceAll('@', '%40')}>`,
  heading: '####',
  hasStrike: true,
  hasCode: true,
  lineBreak: '\n',
  rule: '---',
};

/** An incoming webhook of a Mattermost server. */
export const mattermost: ChannelSender = {
  title: 'Mattermost',
  ...HOOK,
  send: (ctx, { url = '' }, { message, signal }) =>
    postToTarget(ctx, { url, body: renderMattermost(message), signal }, readAnswer),
};

/** The body of a message. */
export function renderMattermost(message: ChannelMessage) {
  const { url } = message;
  const title = `**${DIALECT.escape(cutText(describeTitle(message), MAX_TITLE))}**`;
  const head = `${title}\n${describeStatus(message)} · [${getTexts(message.reader.language).messages.open}](${url})`;
  const render = (blocks: Block[]) =>
    [head, renderMarkdown(blocks, DIALECT)].filter((part) => part !== '').join('\n\n');
  const measure = (blocks: Block[]) => countCodePoints(render(blocks));
  return { text: render(fitMessage(message, { max: MAX_LENGTH, measure, hasTables: true })) };
}

function readAnswer(status: number, headers: Record<string, unknown>, body: string): AnswerReading {
  const { id, message } = readJson(body);
  if (status < 300) return {};
  const error = typeof message === 'string' ? message : readText(body);
  // Servers without `Retry-After` say in how many seconds the limit is lifted.
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
  const waits = status === 429 && headers['retry-after'] === undefined && Number.isFinite(reset);
  const isGone = status === 404 || status === 410 || (status < 500 && typeof id === 'string' && GONE.test(id));
  return { error, isGone, ...(waits && { retryAfterMs: reset * 1000 }) };
}
