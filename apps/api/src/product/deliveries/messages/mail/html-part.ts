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
  return String(markup`${trusted('<!doctype html>')}
<html lang="en">
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
<p${look('fine')}>${formatTime(message.at)}</p>
${isDigest ? renderDigest(mail) : renderContent(main, 1)}
<p style="margin:24px 0 0;"><a href="${message.url}"${look('button')}>${isDigest ? 'All runs in Carillon' : 'Open in Carillon'}</a></p>
</td></tr>
</table>
<table ${FRAME} style="max-width:640px;"><tr><td align="left"${look('foot', 'pad')}>${renderFooter(footer)}</td></tr></table>
</td></tr></table>
</main>
</body>
</html>
`);
}

const renderFooter = ({ account, channel, unsubscribeUrl }: Footer) =>
  markup`The Carillon account <b>${account}</b> has this sent to you, by its channel “${channel}”.
<a href="${unsubscribeUrl}"${look('link')}>Unsubscribe</a>`;

function renderLabel(message: ChannelMessage) {
  const { text, label } = describeLevel(message);
  return markup`<span${look(label)}>${text}</span>`;
}

function renderDigest({ main, listed, items }: MailParts): Markup {
  const { length } = main.message.items;
  return markup`<h2${look('section')}>In this mail</h2>
<ol style="margin:0;padding:0 0 0 26px;">
${listed.map(renderEntry)}</ol>
${listed.length < length && markup`<p${look('fine')}>And ${length - listed.length} more.</p>`}
${items.map(renderItem)}${items.length < length && markup`<div${look('item')}><p${look('fine')}>The others are shown in Carillon only, so that this mail stays short.</p></div>`}`;
}

const renderEntry = (message: ChannelMessage) =>
  markup`<li dir="auto" style="margin:6px 0;">${toTitle(message.title)}
<span${look('fine')}>· ${describeLevel(message).text}, ${formatTime(message.at)} · <a href="${message.url}"${look('link')}>open</a></span></li>\n`;

const renderItem = (item: ShownMessage) =>
  markup`<div${look('item')}>
${renderLabel(item.message)}
<h2${look('itemTitle')} dir="auto">${item.title}</h2>
<p${look('fine')}>${formatTime(item.message.at)} · <a href="${item.message.url}"${look('link')}>open in Carillon</a></p>
${renderContent(item, 2)}
</div>
`;

/** Without the title. Headings continue those of level `above`. */
function renderContent({ message, text, changes, answer, sources }: ShownMessage, above: number): Markup {
  const tag = trusted(`h${above + 1}`);
  const section = (words: string) => markup`<${tag}${look('section')}>${words}</${tag}>`;
  const hasAnswer = answer.length > 0;
  return markup`${text && markup`<p${look(describeLevel(message).note)} dir="auto">${text}</p>`}
${changes && markup`${section('What changed')}${renderChanges(changes)}`}
${changes && hasAnswer && section('The answer')}${hasAnswer && renderBlocks(answer, changes ? above + 1 : above)}
${sources.length > 0 && markup`${section('Sources')}${renderBlocks([listOf(sources)], above + 1)}`}`;
}
