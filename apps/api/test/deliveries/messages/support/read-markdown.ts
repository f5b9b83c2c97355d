import MarkdownIt, { type Token } from 'markdown-it';
import type { ShownLink } from './hostile-answers.ts';

const markdown = new MarkdownIt({ html: true, linkify: false });

const listTokens = (tokens: readonly Token[]): Token[] =>
  tokens.flatMap((token) => [token, ...listTokens(token.children ?? [])]);

/** The links of CommonMark with the texts that they show. Images count as links, and `html` is what a browser would run. */
export function readMarkdown(text: string): { links: ShownLink[]; html: string[] } {
  const links: ShownLink[] = [];
  const html: string[] = [];
  let open: ShownLink | null = null;
  for (const token of listTokens(markdown.parse(text, {}))) {
    if (token.type === 'link_open') {
      open = { text: '', href: String(token.attrGet('href')) };
      links.push(open);
    } else if (token.type === 'link_close') open = null;
    else if (token.type === 'image') links.push({ text: token.content, href: String(token.attrGet('src')) });
    else if (token.type === 'html_block' || token.type === 'html_inline') html.push(token.content);
    else if (open && token.children === null) open.text += token.content;
  }
  return { links, html };
}
