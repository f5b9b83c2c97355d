import { getTexts } from '@carillon/texts';
import { divideBlocks } from '../format/cut.ts';
import { surround, ZERO_WIDTH_SPACE } from '../format/markdown-text.ts';
import { describeStatus, describeTitle, fitMessage } from '../format/message-blocks.ts';
import { countBytes, cutText } from '../format/text.ts';
import { type Block, gapOf, type Inline, indent, joinBlocks } from '../format/tree.ts';
import { HOOK } from '../hook-url.ts';
import type { ChannelMessage } from '../message.ts';
import { type AnswerReading, postToTarget, readText } from '../post.ts';
import type { ChannelSender } from '../sender.ts';

const MAX_HEADER = 150;
const MAX_SECTION = 3000;
/** Of all sections: beyond 13,000 characters Slack rejects the message, whatever each block has. */
const MAX_TOTAL_BYTES = 12_000;
/** Answers of hooks that accept nothing more. */
const GONE = ['no_service', 'no_service_id', 'no_active_hooks', 'no_team', 'team_disabled', 'invalid_token'];

/** An incoming webhook of a Slack app. */
export const slack: ChannelSender = {
  title: 'Slack',
  ...HOOK,
  send: (ctx, { url = '' }, { message, signal }) =>
    postToTarget(ctx, { url, body: renderSlack(message), signal }, readAnswer),
};

/** The body of a message. */
export function renderSlack(message: ChannelMessage) {
  const { url } = message;
  const title = describeTitle(message);
  const measureAll = (blocks: Block[]) => countBytes(JSON.stringify(renderSlackText(blocks)));
  const measure = (blocks: Block[]) => renderSlackText(blocks).length;
  const body = fitMessage(message, { max: MAX_TOTAL_BYTES, measure: measureAll });
  const toContext = (text: string) => ({ type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] });
  return {
    // What notifications show.
    text: escapeSlack(cutText(title, MAX_HEADER)),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cutText(title, MAX_HEADER), emoji: false } },
      toContext(describeStatus(message)),
      ...divideBlocks(body, MAX_SECTION, measure).map((part) => ({
        type: 'section',
        // Without `verbatim`, names of channels and people in the text become links.
        text: { type: 'mrkdwn', text: renderSlackText(part), verbatim: true },
      })),
      toContext(renderSlackLink({ url, text: getTexts(message.reader.language).messages.open })),
    ],
  };
}

/** Errors are words such as `no_service`. */
function readAnswer(status: number, _headers: unknown, body: string): AnswerReading {
  const text = readText(body).trim();
  if (status < 300) return text === 'ok' || text === '' ? {} : { error: text };
  return { error: text, isGone: status === 404 || status === 410 || GONE.includes(text) };
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Without `<`, a text has neither links nor mentions. */
const escapeSlack = (text: string) =>
  text.replace(/[&<>]/g, (one) => ESCAPES[one] as string).replace(/`(?=`)/g, `\`${ZERO_WIDTH_SPACE}`);

/** Renders blocks without tables as Slack's mrkdwn. */
function renderSlackText(blocks: readonly Block[], depth = 0): string {
  return joinBlocks(blocks, (block) => renderBlock(block, depth));
}

function renderBlock(block: Block, depth: number): string {
  switch (block.type) {
    case 'paragraph':
      return renderInlines(block.inlines, []);
    case 'heading':
      return renderInlines([{ type: 'strong', inlines: block.inlines }], []).replace(/\s+/g, ' ');
    case 'code':
      return `\`\`\`\n${escapeSlack(block.text)}\n\`\`\``;
    case 'quote':
      return renderSlackText(block.blocks, depth).replace(/^/gm, '> ');
    case 'list':
      return block.items
        .map((item, at) => {
          const marker = block.start === null ? (depth % 2 === 0 ? '• ' : '◦ ') : `${block.start + at}. `;
          return indent(
            marker,
            joinBlocks(item, (one) => renderBlock(one, depth + 1), gapOf(item)),
          );
        })
        .join('\n');
    case 'rule':
      return '———';
    case 'table':
      throw new Error('Tables are replaced before.');
  }
}

const MARKS = { strong: '*', emphasis: '_', strike: '~' };

function renderInlines(inlines: readonly Inline[], within: readonly string[]): string {
  return inlines
    .map((inline) => {
      switch (inline.type) {
        case 'text':
          return escapeSlack(inline.text);
        case 'break':
          return '\n';
        case 'code':
          // There is no way to write a backtick in code.
          return surround(escapeSlack(inline.text.replaceAll('`', "'")), '`');
        case 'link':
          return renderSlackLink(inline);
        default: {
          const inner = renderInlines(inline.inlines, [...within, inline.type]);
          return within.includes(inline.type) ? inner : surround(inner, MARKS[inline.type]);
        }
      }
    })
    .join('');
}

function renderSlackLink({ url, text }: { url: string; text: string }): string {
  const address = escapeSlack(url).replaceAll('|', '%7C');
  return text === url ? `<${address}>` : `<${address}|${escapeSlack(text)}>`;
}
