import { cleanLine } from './clean.ts';
import type { Inline } from './tree.ts';

const PROTOCOLS = ['http:', 'https:', 'mailto:'];
const MAX_URL_LENGTH = 1000;
/** What a reader takes for an address. */
const LOOKS_LIKE_ADDRESS = /:\/\/|www\.|[\p{L}\p{N}-][.。．][\p{L}]{2,}|\S@\S/iu;

/**
 * A link whose text shows where it leads: `text (host)`, or the address itself if the text looks like another one. Text
 * only if the address leads elsewhere than to the web or a mailbox.
 */
export function buildLink(address: string, label: string): Inline {
  const text = cleanLine(label);
  if (!URL.canParse(address)) return { type: 'text', text };
  const url = new URL(address);
  if (!PROTOCOLS.includes(url.protocol)) return { type: 'text', text };
  // `https://bank.example@evil.example` leads to the latter.
  url.username = '';
  url.password = '';
  const isMail = url.protocol === 'mailto:';
  const start = isMail ? url.protocol : url.origin;
  const href = start + encodeEnds(url.href.slice(start.length));
  const place = isMail ? url.pathname : url.host;
  if (href.length > MAX_URL_LENGTH) return { type: 'text', text: `${text} (${place})` };
  if (text === '' || isSame(text, url) || LOOKS_LIKE_ADDRESS.test(text)) return { type: 'link', url: href, text: href };
  return { type: 'link', url: href, text: `${text} (${place})` };
}

const isSame = (text: string, url: URL) => [url.href, url.host, url.pathname].includes(text);

/** Encodes the characters that would end a link in one of the formats. */
const encodeEnds = (path: string) =>
  path.replace(/[()|*`\\<>"'[\]{}]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
