import { escapeMarkdown, type MarkdownDialect, renderMarkdown, ZERO_WIDTH_SPACE } from '../format/markdown-text.ts';
import { describeStatus, describeTitle, fitMessage, LEVELS } from '../format/message-blocks.ts';
import { cutText } from '../format/text.ts';
import type { Block } from '../format/tree.ts';
import { HOOK } from '../hook-url.ts';
import type { ChannelMessage } from '../message.ts';
import { type AnswerReading, postToTarget, readJson } from '../post.ts';
import type { ChannelSender } from '../sender.ts';

const MAX_TITLE = 256;
/** With title and footer it stays below the 6,000 of an embed. */
const MAX_DESCRIPTION = 4096;
/** Unknown channel, unknown server, unknown webhook, invalid token. */
const GONE = [10003, 10004, 10015, 50027];

const DIALECT: MarkdownDialect = {
  escape: (text) => escapeMarkdown(text).replace(/@(?=everyone|here|[!&\d])/gi, `@${ZERO_WIDTH_SPACE}`),
  plainLink: (url) => `<${url}>`,
  heading: '###',
  hasStrike: true,
  hasCode: true,
  lineBreak: '\n',
  rule: '———',
};

/** A webhook of a Discord channel. */
export const discord: ChannelSender = {
  title: 'Discord',
  ...HOOK,
  send: (ctx, { url = '' }, { message, signal }) =>
    postToTarget(ctx, { url: confirmed(url), body: renderDiscord(message), signal }, readAnswer),
};

/** Only with `wait` does Discord answer after it has stored the message, and say why it could not. */
function confirmed(address: string): string {
  const url = new URL(address);
  url.searchParams.set('wait', 'true');
  return url.href;
}

/** The body of a message. */
export function renderDiscord(message: ChannelMessage) {
  const { url, level, at } = message;
  const render = (blocks: Block[]) => renderMarkdown(blocks, DIALECT);
  const measure = (blocks: Block[]) => render(blocks).length;
  const escapedLength = (text: string) => DIALECT.escape(text).length;
  return {
    embeds: [
      {
        title: DIALECT.escape(cutText(describeTitle(message), MAX_TITLE, escapedLength)),
        url,
        description: render(fitMessage(message, { max: MAX_DESCRIPTION, measure })),
        color: LEVELS[level].color,
        timestamp: at.toISOString(),
        footer: { text: describeStatus(message) },
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

/** A limit is a number of seconds in the body, an error a code with a message and the fields that are wrong. */
function readAnswer(status: number, _headers: unknown, body: string): AnswerReading {
  const { code, message, retry_after: seconds, errors } = readJson(body);
  if (status < 300) return {};
  const fields = errors === undefined ? '' : ` ${JSON.stringify(errors)}`;
  return {
    error: typeof message === 'string' ? `${message}${fields}` : '',
    retryAfterMs: typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : undefined,
    isGone: status === 410 || GONE.includes(code as number),
  };
}
