import { alignTable, type Block, type Inline } from './tree.ts';

/** Telegram drops the entities of a message beyond 100; links stand in plain text then. */
const MAX_ENTITIES = 95;
const CODES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const TAGS = { strong: 'b', emphasis: 'i', strike: 's' } as const;
/** `@name` would notify that user. Parts of a text are joined, so the name may be in the next one. */
const MENTION = /(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_]|$)/g;

/** Renders for `parse_mode: HTML`. */
export function renderTelegram(blocks: readonly Block[]): string {
  const pen = new Pen();
  return pen.writeBlocks(blocks, false);
}

/** The length that Telegram limits: UTF-16 units without tags. */
export const countTelegram = (html: string) => html.replace(/<[^>]*>/g, '').replace(/&[a-z]+;/g, ' ').length;

const escapeTelegram = (text: string) => text.replace(/[&<>"]/g, (one) => CODES[one] as string);

class Pen {
  #entities = 0;

  writeBlocks(blocks: readonly Block[], isInQuote: boolean): string {
    return blocks
      .map((block) => this.#writeBlock(block, isInQuote))
      .filter((text) => text !== '')
      .join('\n\n');
  }

  #writeBlock(block: Block, isInQuote: boolean): string {
    switch (block.type) {
      case 'paragraph':
        return this.#writeInlines(block.inlines);
      case 'heading':
        return this.#wrap('b', this.#writeInlines(block.inlines));
      case 'code': {
        return this.#writeCode('pre', block.text, block.language);
      }
      case 'quote': {
        const text = this.writeBlocks(block.blocks, true);
        // Quotes cannot be inside each other.
        return isInQuote ? text : this.#wrap('blockquote', text);
      }
      case 'list':
        return block.items.map((item, at) => this.#writeItem(item, block.start, at, isInQuote)).join('\n');
      case 'table':
        return this.#writeCode('pre', alignTable(block.rows), '');
      case 'rule':
        return '———';
    }
  }

  #writeItem(item: readonly Block[], start: number | null, at: number, isInQuote: boolean): string {
    const parts = item.map((block) => this.#writeBlock(block, isInQuote));
    const text = parts.filter((part) => part !== '').join('\n');
    const [first = '', ...rest] = text.split('\n');
    const marker = start === null ? '•' : `${start + at}.`;
    return [`${marker} ${first}`, ...rest.map((line) => `  ${line}`)].join('\n');
  }

  #writeInlines(inlines: readonly Inline[]): string {
    return inlines.map((inline) => this.#writeInline(inline)).join('');
  }

  #writeInline(inline: Inline): string {
    switch (inline.type) {
      case 'text':
        return writeText(inline.text);
      case 'break':
        return '\n';
      case 'code':
        return this.#writeCode('code', inline.text, '');
      case 'link':
        return this.#writeLink(inline.url, inline.text);
      default:
        return this.#wrap(TAGS[inline.type], this.#writeInlines(inline.inlines));
    }
  }

  #writeLink(url: string, text: string): string {
    // Links to mailboxes are dropped by Telegram.
    if (!url.startsWith('http')) return writeText(text);
    if (!this.#mayMark())
      return writeText(text === url ? '' : `${text}: `) + escapeTelegram(url.replaceAll('@', '%40'));
    return `<a href="${escapeTelegram(url)}">${text === url ? escapeTelegram(text) : writeText(text)}</a>`;
  }

  #writeCode(tag: 'pre' | 'code', text: string, language: string): string {
    if (text.trim() === '' || !this.#mayMark()) return writeText(text);
    const code = escapeTelegram(text);
    if (language === '') return `<${tag}>${code}</${tag}>`;
    return `<${tag}><code class="language-${escapeTelegram(language)}">${code}</code></${tag}>`;
  }

  #wrap(tag: string, html: string): string {
    return html.trim() === '' || !this.#mayMark() ? html : `<${tag}>${html}</${tag}>`;
  }

  #mayMark(): boolean {
    this.#entities += 1;
    return this.#entities <= MAX_ENTITIES;
  }
}

const writeText = (text: string) => escapeTelegram(text.replace(MENTION, '@\u2060'));
