import { toPlainText } from '../format/plain-text.ts';
import { listOf } from '../format/tree.ts';
import type { ChannelMessage } from '../message.ts';
import type { ShownChanges } from './changes.ts';
import { formatTime, type MailParts, type ShownMessage, toTitle } from './compose.ts';
import { describeLevel } from './styles.ts';

const SIGNS = { delete: '- ', insert: '+ ', equal: '  ' };
const RULE = '-'.repeat(40);

/** Renders the plain part, for mail programs and readers that show no HTML. */
export function renderText({ main, listed, items, footer }: MailParts): string {
  const { message, title } = main;
  const left = message.items.length - listed.length;
  const contents = listed.map((item, at) => `${at + 1}. ${toTitle(item.title)} (${describe(item)})`);
  if (left > 0) contents.push(`And ${left} more.`);
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
    ...(items.length < message.items.length ? ['The others are shown in Carillon only.'] : []),
    `Open in Carillon: ${message.url}`,
  ];
  const { account, channel, unsubscribeUrl } = footer;
  return `${parts.join('\n\n')}

-- 
The Carillon account ${account} has this sent to you, by its channel "${channel}".
Unsubscribe: ${unsubscribeUrl}
`;
}

const describe = (message: ChannelMessage) => `${describeLevel(message).text}, ${formatTime(message.at)}`;

const renderContent = ({ text, changes, answer, sources }: ShownMessage): string[] => [
  ...(text ? [text] : []),
  ...(changes ? [renderChanges(changes)] : []),
  ...(answer.length > 0 ? [toPlainText(answer)] : []),
  ...(sources.length > 0 ? [`Sources:\n${toPlainText([listOf(sources)])}`] : []),
];

const renderChanges = ({ values, lines, hasMore }: ShownChanges) =>
  [
    'What changed:',
    ...values.map(({ path, before, after }) => `  ${path}: ${before ?? 'missing'} → ${after ?? 'missing'}`),
    ...lines.map(({ op, text }) => `  ${SIGNS[op]}${text}`),
    ...(hasMore ? ['  There are further changes.'] : []),
  ].join('\n');
