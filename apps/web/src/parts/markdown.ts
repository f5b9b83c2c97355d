import MarkdownIt from 'markdown-it';
import { type Html, raw } from '../html.ts';

/**
 * Answers come from models that read the web, so nothing in them is trusted: HTML is text, images are not loaded, and links
 * lead to the web only and say where they go.
 */
const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable(['image']);
markdown.validateLink = (url) => /^https?:\/\//i.test(url);

/** Below the headings of the page, which end at `h2`. */
const FIRST_HEADING = 3;

for (const rule of ['heading_open', 'heading_close'] as const) {
  markdown.renderer.rules[rule] = (tokens, index, options, _env, renderer) => {
    const token = tokens[index]!;
    const level = Math.min(Number(token.tag.slice(1)) + FIRST_HEADING - 1, 6);
    token.tag = `h${level}`;
    return renderer.renderToken(tokens, index, options);
  };
}
markdown.renderer.rules.link_open = (tokens, index, options, _env, renderer) => {
  tokens[index]!.attrSet('rel', 'noopener noreferrer nofollow');
  return renderer.renderToken(tokens, index, options);
};

/** Renders the text of an answer. */
export const renderMarkdown = (text: string): Html => raw(markdown.render(text));
