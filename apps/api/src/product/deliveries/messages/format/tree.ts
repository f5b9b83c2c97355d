/** What all kinds of channels render. Made from untrusted text by `parseMarkdown`, which checks links. */
export type Block =
  | { type: 'paragraph'; inlines: Inline[] }
  | { type: 'heading'; level: number; inlines: Inline[] }
  | { type: 'code'; language: string; text: string }
  | { type: 'quote'; blocks: Block[] }
  | { type: 'list'; start: number | null; items: Block[][] }
  /** The first row is the header. */
  | { type: 'table'; rows: string[][] }
  | { type: 'rule' };

export type Inline =
  | { type: 'text'; text: string }
  | { type: 'break' }
  | { type: 'strong' | 'emphasis' | 'strike'; inlines: Inline[] }
  | { type: 'code'; text: string }
  /** `text` says where the link leads, or is the address itself. */
  | { type: 'link'; url: string; text: string };

export const textOf = (text: string): Inline => ({ type: 'text', text });

export const paragraphOf = (...inlines: Inline[]): Block => ({ type: 'paragraph', inlines });

export const listOf = (items: readonly Block[][]): Block => ({ type: 'list', start: null, items: [...items] });

/** The text without formatting, in one line. */
export function flatten(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      if (inline.type === 'break') return ' ';
      return 'inlines' in inline ? flatten(inline.inlines) : inline.text;
    })
    .join('');
}
