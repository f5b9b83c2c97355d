import { getTexts, type Texts } from '@carillon/texts';
import { listOf } from '../format/tree.ts';
import type { ChannelMessage } from '../message.ts';
import { type Footer, formatTime, type MailParts, type ShownMessage, toTitle } from './compose.ts';
import { renderBlocks } from './html-blocks.ts';
import { renderChanges } from './html-changes.ts';
import { describeLevel, look, type Markup, markup, STYLE_SHEET, trusted } from './styles.ts';

const FRAME = trusted('role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"');

/** Renders a whole document, without anything that is loaded or runs. */
export function renderHtml(mail: MailParts): string {
  const { main, footer } = mail;
  const { message, title } = main;
  const isDigest = message.items.length > 0;
  const { messages: texts, language } = getTexts(message.reader.language);
  return String(markup`${trusted('<!doctype html>')}
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>${trusted(STYLE_SHEET)}</style>
</head>
<body${look('page')}>
<main>
<table ${FRAME}><tr><td align="center"${look('ground')}>
<table ${FRAME}${look('card')}>
<tr><td align="left"${look('brand', 'pad')}>Carillon</td></tr>
<tr><td align="left"${look('main', 'pad')}>
${renderLabel(message)}
<h1${look('title')} dir="auto">${title}</h1>
<p${look('fine')}>${formatTime(message)}</p>
${isDigest ? renderDigest(mail) : renderContent(main, 1)}
<p style="margin:24px 0 0;"><a href="${message.url}"${look('button')}>${isDigest ? texts.allRuns : texts.open}</a></p>
</td></tr>
</table>
<table ${FRAME} style="max-width:640px;"><tr><td align="left"${look('foot', 'pad')}>${renderFooter(footer, texts)}</td></tr></table>
</td></tr></table>
</main>
</body>
</html>
`);
}

const renderFooter = ({ account, channel, unsubscribeUrl }: Footer, texts: Texts['messages']) =>
  markup`${texts.footer(markup`<b>${account}</b>`, channel)}
<a href="${unsubscribeUrl}"${look('link')}>${texts.unsubscribe}</a>`;

function renderLabel(message: ChannelMessage) {
  const { text, label } = describeLevel(message);
  return markup`<span${look(label)}>${text}</span>`;
}

function renderDigest({ main, listed, items }: MailParts): Markup {
  const { length } = main.message.items;
  const { messages: texts } = getTexts(main.message.reader.language);
  return markup`<h2${look('section')}>${texts.contents}</h2>
<ol style="margin:0;padding:0 0 0 26px;">
${listed.map(renderEntry)}</ol>
${listed.length < length && markup`<p${look('fine')}>${texts.andMore(length - listed.length)}</p>`}
${items.map(renderItem)}${items.length < length && markup`<div${look('item')}><p${look('fine')}>${texts.others}</p></div>`}`;
}

const renderEntry = (message: ChannelMessage) =>
  markup`<li dir="auto" style="margin:6px 0;">${toTitle(message)}
<span${look('fine')}>· ${describeLevel(message).text}, ${formatTime(message)} · <a href="${message.url}"${look('link')}>${getTexts(message.reader.language).messages.openItem}</a></span></li>\n`;

const renderItem = (item: ShownMessage) =>
  markup`<div${look('item')}>
${renderLabel(item.message)}
<h2${look('itemTitle')} dir="auto">${item.title}</h2>
<p${look('fine')}>${formatTime(item.message)} · <a href="${item.message.url}"${look('link')}>${getTexts(item.message.reader.language).messages.open}</a></p>
${renderContent(item, 2)}
</div>
`;

/** Without the title. Headings continue those of level `above`. */
function renderContent({ message, text, changes, answer, sources }: ShownMessage, above: number): Markup {
  const tag = trusted(`h${above + 1}`);
  const section = (words: string) => markup`<${tag}${look('section')}>${words}</${tag}>`;
  const hasAnswer = answer.length > 0;
  const { messages: texts, language } = getTexts(message.reader.language);
  return markup`${text && markup`<p${look(describeLevel(message).note)} dir="auto">${text}</p>`}
${changes && markup`${section(texts.changes)}${renderChanges(changes, language)}`}
${changes && hasAnswer && section(texts.answer)}${hasAnswer && renderBlocks(answer, changes ? above + 1 : above)}
${sources.length > 0 && markup`${section(texts.sources)}${renderBlocks([listOf(sources)], above + 1)}`}`;
}
