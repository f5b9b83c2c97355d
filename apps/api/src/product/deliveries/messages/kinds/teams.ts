import { getTexts } from '@carillon/texts';
import { escapeMarkdown, type MarkdownDialect, renderMarkdown, ZERO_WIDTH_SPACE } from '../format/markdown-text.ts';
import { describeStatus, describeTitle, fitMessage } from '../format/message-blocks.ts';
import { countBytes, cutText } from '../format/text.ts';
import type { Block } from '../format/tree.ts';
import { HOOK } from '../hook-url.ts';
import type { ChannelMessage } from '../message.ts';
import { type AnswerReading, postToTarget, readJson, readText } from '../post.ts';
import type { ChannelSender } from '../sender.ts';

/** Teams accepts about 28 KB after it has turned the card into its own form, which is longer. */
const MAX_BYTES = 20_000;
const MAX_TITLE = 200;
const NO_BREAK_SPACE = '\u00a0';

const COLORS: Record<ChannelMessage['level'], string> = {
  success: 'Good',
  failure: 'Attention',
  alert: 'Warning',
  recovery: 'Good',
  notice: 'Accent',
};

/** `{{DATE(…)}}` is a function of cards. */
const escapeText = (text: string) => escapeMarkdown(text).replace(/\{(?=\{)/g, `{${ZERO_WIDTH_SPACE}`);

const DIALECT: MarkdownDialect = {
  escape: escapeText,
  plainLink: (url) => `[${escapeText(url)}](${url})`,
  hasStrike: false,
  hasCode: false,
  // A single line end is a space.
  lineBreak: '\n\n',
  rule: '———',
};

/** The webhook of a workflow in Teams, or of a connector. */
export const teams: ChannelSender = {
  title: 'Microsoft Teams',
  ...HOOK,
  send: (ctx, { url = '' }, { message, signal }) =>
    postToTarget(ctx, { url, body: renderTeams(message), signal }, readAnswer),
};

/** The body of a message. */
export function renderTeams(message: ChannelMessage) {
  const title = escapeText(cutText(describeTitle(message), MAX_TITLE));
  const measure = (some: Block[]) => countBytes(JSON.stringify(buildCard(message, title, some)));
  return buildCard(message, title, fitMessage(message, { max: MAX_BYTES, measure }));
}

function buildCard(message: ChannelMessage, title: string, blocks: readonly Block[]) {
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      { ...textBlock(title), size: 'Large', weight: 'Bolder', color: COLORS[message.level] },
      { ...textBlock(describeStatus(message)), isSubtle: true, spacing: 'None' },
      ...blocks.map(buildElement),
    ],
    actions: [{ type: 'Action.OpenUrl', title: getTexts(message.reader.language).messages.open, url: message.url }],
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card };
  return { type: 'message', attachments: [attachment] };
}

const textBlock = (text: string) => ({ type: 'TextBlock', text, wrap: true });

/** Text blocks know neither headings nor code nor a line. */
function buildElement(block: Block) {
  if (block.type === 'code') return { ...textBlock(renderCode(block.text)), fontType: 'Monospace' };
  if (block.type === 'rule') return { ...textBlock(' '), separator: true };
  if (block.type === 'heading') {
    return { ...textBlock(renderMarkdown([block], DIALECT)), size: 'Medium', style: 'heading' };
  }
  return textBlock(renderMarkdown([nestCode(block)], DIALECT));
}

/** Each line is a paragraph; its indentation stays. */
const renderCode = (text: string) =>
  text
    .split('\n')
    .map((line) =>
      renderMarkdown([{ type: 'paragraph', inlines: [{ type: 'text', text: keepSpaces(line) }] }], DIALECT),
    )
    .map((line) => line || NO_BREAK_SPACE)
    .join('\n\n');

const keepSpaces = (line: string) => line.replace(/^[ \t]+| {2,}/g, (some) => NO_BREAK_SPACE.repeat(some.length));

/** Code in a list or a quote is text. */
function nestCode(block: Block): Block {
  if (block.type === 'quote') return { ...block, blocks: block.blocks.map(nestCode) };
  if (block.type === 'list') return { ...block, items: block.items.map((item) => item.map(nestCode)) };
  if (block.type !== 'code') return block;
  const lines = block.text.split('\n').map((text) => ({ type: 'text', text }) as const);
  const inlines = lines.flatMap((line, at) => (at > 0 ? [{ type: 'break' } as const, line] : [line]));
  return { type: 'paragraph', inlines };
}

/**
 * Workflows answer errors as `{error: {code, message}}`, and 202 before they post. Connectors answer 200 with an error as
 * text, such as `… returned HTTP error 429 …`.
 */
function readAnswer(status: number, _headers: unknown, body: string): AnswerReading {
  if (status < 300) {
    const inner = Number(/returned HTTP error (\d{3})/.exec(body)?.[1] ?? Number.NaN);
    if (Number.isNaN(inner)) return {};
    return { error: readText(body), isGone: inner === 404 || inner === 410 };
  }
  const { code, message } = (readJson(body).error ?? {}) as { code?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : readText(body);
  const isDeleted = code === 'WorkflowNotFound' || (code === 'WorkflowTriggerIsNotEnabled' && /'Deleted'/.test(text));
  return {
    error: typeof code === 'string' ? `${code}: ${text}` : text,
    isGone: status === 404 || status === 410 || isDeleted,
  };
}
