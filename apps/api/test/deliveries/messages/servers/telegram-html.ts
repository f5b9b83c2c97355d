export interface TelegramEntity {
  type: string;
  offset: number;
  length: number;
  url?: string;
}

interface OpenTag {
  name: string;
  offset: number;
  url?: string;
}

const TAGS: Record<string, string> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  a: 'text_link',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  'tg-spoiler': 'spoiler',
};
const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };
const LINK = /^(https?|tg|ton|tonsite):\/\/[^\s]+$/i;
const MENTION = /(?<![A-Za-z0-9_])@[A-Za-z0-9_]{2,32}(?![A-Za-z0-9_])/g;

/** Parses text with `parse_mode: HTML` as the Bot API does; throws the description of its answer. */
export function parseTelegramHtml(html: string): { text: string; entities: TelegramEntity[] } {
  let text = '';
  const entities: TelegramEntity[] = [];
  const open: OpenTag[] = [];
  const token = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));|<(\/?)([^\s<>]*)([^<>]*)>|[\s\S]/giu;
  for (const [all, decimal, hex, named, end, tag = '', attributes = ''] of html.matchAll(token)) {
    if (decimal ?? hex) text += String.fromCodePoint(Number(decimal ?? `0x${hex}`));
    else if (named) text += NAMED[named] ?? all;
    else if (all === '<') throw new Error(fail('Unclosed start tag', html));
    else if (!all.startsWith('<') || all.length === 1) text += all;
    else if (end) {
      const last = open.pop();
      if (!last || last.name !== tag) throw new Error(fail(`Unmatched end tag "${tag}"`, html));
      const length = text.length - last.offset;
      const type = TAGS[tag] as string;
      if (length > 0) entities.push({ type, offset: last.offset, length, ...(last.url && { url: last.url }) });
    } else {
      if (!TAGS[tag]) throw new Error(fail(`Unsupported start tag "${tag}"`, html));
      const [, href] = /^\s+href="([^"]*)"\s*$/.exec(attributes) ?? [];
      const isKnown =
        attributes === '' || href !== undefined || / (class="language-[^"]*"|expandable)$/.test(attributes);
      if (!isKnown) throw new Error(fail(`Unclosed start tag "${tag}"`, html));
      open.push({ name: tag, offset: text.length, ...(href !== undefined && { url: decode(href) }) });
    }
  }
  const [unclosed] = open;
  if (unclosed) throw new Error(fail(`Can't find end tag corresponding to start tag "${unclosed.name}"`, html));
  if (text.trim() === '') throw new Error('Bad Request: message text is empty');
  if (text.length > 4096) throw new Error('Bad Request: message is too long');
  // Others are dropped, with all that is shown of them.
  const kept = entities.filter(({ type, url }) => type !== 'text_link' || (url !== undefined && LINK.test(url)));
  const isCode = (at: number) =>
    kept.some(({ type, offset, length }) => /code|pre|text_link/.test(type) && at >= offset && at < offset + length);
  for (const { 0: mention, index } of text.matchAll(MENTION)) {
    if (!isCode(index)) kept.push({ type: 'mention', offset: index, length: mention.length });
  }
  return { text, entities: kept };
}

const fail = (what: string, html: string) =>
  `Bad Request: can't parse entities: ${what} at byte offset ${Buffer.byteLength(html)}`;

const decode = (text: string) => text.replaceAll(/&(lt|gt|amp|quot);/g, (_, name: string) => NAMED[name] as string);
