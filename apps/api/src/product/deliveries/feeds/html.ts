import type { Block, Inline } from '../messages/format/tree.ts';

/** HTML without classes and styles, of which readers of feeds keep nothing. */
export const toHtml = (blocks: readonly Block[]): string => blocks.map(blockToHtml).join('\n');

const LAST_LEVEL = 6;
/** The title of the entry. */
const LEVELS_ABOVE = 1;

function blockToHtml(block: Block): string {
  switch (block.type) {
    case 'paragraph':
      return element('p', inlinesToHtml(block.inlines));
    case 'heading':
      return element(`h${Math.min(block.level + LEVELS_ABOVE, LAST_LEVEL)}`, inlinesToHtml(block.inlines));
    case 'code':
      return element('pre', element('code', escapeMarkup(block.text)));
    case 'quote':
      return element('blockquote', toHtml(block.blocks));
    case 'list': {
      const items = block.items.map((item) => element('li', toHtml(item))).join('\n');
      return block.start === null ? element('ul', items) : `<ol start="${block.start}">${items}</ol>`;
    }
    case 'table': {
      const [head = [], ...rows] = block.rows;
      return element('table', [rowToHtml(head, 'th'), ...rows.map((row) => rowToHtml(row, 'td'))].join('\n'));
    }
    case 'rule':
      return '<hr>';
  }
}

const rowToHtml = (cells: readonly string[], tag: 'th' | 'td') =>
  element('tr', cells.map((cell) => element(tag, escapeMarkup(cell))).join(''));

const inlinesToHtml = (inlines: readonly Inline[]): string => inlines.map(inlineToHtml).join('');

const TAGS = { strong: 'strong', emphasis: 'em', strike: 'del' } as const;

function inlineToHtml(inline: Inline): string {
  switch (inline.type) {
    case 'text':
      return escapeMarkup(inline.text);
    case 'code':
      return element('code', escapeMarkup(inline.text));
    case 'break':
      return '<br>';
    case 'link':
      return `<a href="${escapeMarkup(inline.url)}" rel="noopener noreferrer nofollow">${escapeMarkup(inline.text)}</a>`;
    default:
      return element(TAGS[inline.type], inlinesToHtml(inline.inlines));
  }
}

const element = (tag: string, content: string) => `<${tag}>${content}</${tag}>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text and attributes, of HTML and of XML. */
const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one] as string);

/** Control characters, halves of characters and the two others that XML 1.0 has no spelling for. */
const IMPOSSIBLE = /[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** For text and attributes of XML, whatever the text is. */
export const escapeXml = (text: string): string => escapeMarkup(text.replace(IMPOSSIBLE, '\ufffd'));
