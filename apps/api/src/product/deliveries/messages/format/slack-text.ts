import { surround, ZERO_WIDTH_SPACE } from './markdown-text.ts';
import { gapOf, indent, joinBlocks } from './plain-text.ts';
import type { Block, Inline } from './tree.ts';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Without `<`, a text has neither links nor mentions. */
export const escapeSlack = (text: string) =>
  text.replace(/[&<>]/g, (one) => ESCAPES[one] as string).replace(/`(?=`)/g, `\`${ZERO_WIDTH_SPACE}`);

/** Renders blocks without tables as Slack's mrkdwn. */
export function renderSlackText(blocks: readonly Block[], depth = 0): string {
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

export function renderSlackLink({ url, text }: { url: string; text: string }): string {
  const address = escapeSlack(url).replaceAll('|', '%7C');
  return text === url ? `<${address}>` : `<${address}|${escapeSlack(text)}>`;
}
