import { cleanLine } from './text.ts';
import type { Inline } from './tree.ts';

const PROTOCOLS = ['http:', 'https:'];
const MAX_URL_LENGTH = 1000;
/** What a reader takes for an address. */
const LOOKS_LIKE_ADDRESS = /:\/\/|www\.|[\p{L}\p{N}-][.。]\p{L}{2,}|\S@\S/iu;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Characters that look like a slash. */
const SLASHES = /[\u2044\u2215\u29f8]/g;

/**
 * A link whose text shows where it leads: `text (host)`, or the address itself if the text looks like another one. Text
 * only if the address leads elsewhere than to the web.
 */
export function buildLink(address: string, label: string): Inline {
  const text = cleanLine(label);
  if (!URL.canParse(address)) return { type: 'text', text };
  const url = new URL(address);
  // A `mailto:` link may name further recipients that the reader does not see.
  if (url.protocol === 'mailto:') return { type: 'text', text: `${text} (${cleanLine(url.pathname)})` };
  if (!PROTOCOLS.includes(url.protocol)) return { type: 'text', text };
  // `https://bank.example@evil.example` leads to the latter.
  url.username = '';
  url.password = '';
  const href = url.origin + encodeEnds(url.href.slice(url.origin.length));
  if (href.length > MAX_URL_LENGTH) return { type: 'text', text: `${text} (${url.host})` };
  const seen = text.normalize('NFKC').replace(INVISIBLE, '').replace(SLASHES, '/');
  if (seen.trim() === '' || isSame(text, url) || LOOKS_LIKE_ADDRESS.test(seen))
    return { type: 'link', url: href, text: href };
  return { type: 'link', url: href, text: `${text} (${url.host})` };
}

const isSame = (text: string, url: URL) => [url.href, url.host].includes(text);

/** Encodes the characters that would end a link in one of the formats, and `@` where some read a mention of everybody. */
const encodeEnds = (path: string) =>
  path.replace(
    /[()|*`\\<>"'[\]{}]|@(?=everyone|here|channel|all|room|team)/gi,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
