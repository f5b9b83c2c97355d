import MarkdownIt from 'markdown-it';
import type { ShownLink } from './hostile-answers.ts';

const markdown = new MarkdownIt({ html: false, breaks: true });

/** The links that a reader of Markdown shows with a text of their own. */
export function findMarkdownLinks(text: string): ShownLink[] {
  const links: ShownLink[] = [];
  for (const { children } of markdown.parse(text, {})) {
    for (const [at, token] of (children ?? []).entries()) {
      if (token.type === 'image') links.push({ text: '', href: 'an image' });
      if (token.type !== 'link_open') continue;
      const end = children?.findIndex((one, index) => index > at && one.type === 'link_close') ?? at;
      const shown =
        children
          ?.slice(at + 1, end)
          .map(({ content }) => content)
          .join('') ?? '';
      const href = String(token.attrGet('href'));
      if (shown !== href && !isSameAddress(shown, href)) links.push({ text: shown, href });
    }
  }
  return links;
}

/** The parser shows addresses with their percent-encoding decoded. */
const isSameAddress = (shown: string, href: string) =>
  URL.canParse(shown) && URL.canParse(href) && new URL(shown).href === new URL(href).href;

/** Fences that nothing closes. */
export const findBrokenMarkdown = (text: string): string[] =>
  (text.match(/```/g) ?? []).length % 2 === 0 ? [] : ['a code block'];

/** The text outside of code. */
export const removeCode = (text: string) =>
  text.replace(/```[\s\S]*?```/g, '').replace(/(?<![\\`])(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '');
