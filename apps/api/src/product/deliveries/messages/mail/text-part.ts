import { getTexts, type Texts } from '@carillon/texts';
import { listOf, toPlainText } from '../format/tree.ts';
import type { ChannelMessage } from '../message.ts';
import type { ShownChanges } from './changes.ts';
import { formatTime, type MailParts, type ShownMessage, toTitle } from './compose.ts';
import { describeLevel } from './styles.ts';

const SIGNS = { delete: '- ', insert: '+ ', equal: '  ' };
const RULE = '-'.repeat(40);

/** Renders the plain part, for mail programs and readers that show no HTML. */
export function renderText({ main, listed, items, footer }: MailParts): string {
  const { message, title } = main;
  const { messages: texts } = getTexts(message.reader.language);
  const left = message.items.length - listed.length;
  const contents = listed.map((item, at) => `${at + 1}. ${toTitle(item)} (${describe(item)})`);
  if (left > 0) contents.push(texts.andMore(left));
  const parts = [
    `${title}\n${describe(message)}`,
    ...(contents.length > 0 ? [contents.join('\n')] : []),
    ...renderContent(main),
    ...items.flatMap((item) => [
      RULE,
      `${item.title}\n${describe(item.message)}`,
      ...renderContent(item),
      item.message.url,
    ]),
    ...(items.length > 0 ? [RULE] : []),
    ...(items.length < message.items.length ? [texts.others] : []),
    `${texts.open}: ${message.url}`,
  ];
  const { account, channel, unsubscribeUrl } = footer;
  return `${parts.join('\n\n')}

-- 
${texts.footer(account, channel).join('')}
${texts.unsubscribe}: ${unsubscribeUrl}
`;
}

const describe = (message: ChannelMessage) => `${describeLevel(message).text}, ${formatTime(message)}`;

function renderContent({ message, text, changes, answer, sources }: ShownMessage): string[] {
  const { messages: texts } = getTexts(message.reader.language);
  return [
    ...(text ? [text] : []),
    ...(changes ? [renderChanges(changes, texts)] : []),
    ...(answer.length > 0 ? [toPlainText(answer)] : []),
    ...(sources.length > 0 ? [`${texts.sources}:\n${toPlainText([listOf(sources)])}`] : []),
  ];
}

const renderChanges = ({ values, lines, hasMore }: ShownChanges, texts: Texts['messages']) =>
  [
    `${texts.changes}:`,
    ...values.map(({ path, before, after }) => `  ${path}: ${before ?? texts.missing} → ${after ?? texts.missing}`),
    ...lines.map(({ op, text }) => `  ${SIGNS[op]}${text}`),
    ...(hasMore ? [`  ${texts.moreChanges}`] : []),
  ].join('\n');
