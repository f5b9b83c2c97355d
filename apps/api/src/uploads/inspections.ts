import { invalidField } from '../errors.ts';
import { sizeReaderOf } from './image-size.ts';
import { checkJson } from './json-check.ts';

/** Looks at the bytes of a file as they come. Both refuse as `file` (400). */
export interface Inspection {
  /** The first bytes are the signature at least, or all there are. */
  take(bytes: Buffer): void;
  end(): void;
}

/** Decoded, a pixel takes four bytes. */
const MOST_PIXELS = 50_000_000;

/** An image whose header tells its size, of at most 50 megapixels. */
export function inspectImage(type: string): Inspection {
  const reader = sizeReaderOf(type);
  let known = false;
  return {
    take(bytes) {
      if (known) return;
      const size = attempt(() => reader.take(bytes), 'must be an image whose header can be read');
      if (size === null) return;
      known = true;
      const pixels = size.width * size.height;
      if (pixels === 0) throw invalidField('file', 'must be an image that has a size');
      if (pixels > MOST_PIXELS) throw invalidField('file', 'must be an image of at most 50 megapixels');
    },
    end() {
      if (!known) throw invalidField('file', 'must be an image whose header can be read');
    },
  };
}

/** Where readers look for the end of a PDF, since some programs append a few bytes. */
const PDF_END = 1024;

/** A PDF from its first byte on, and to its end. */
export function inspectPdf(): Inspection {
  let begun = false;
  let tail: Buffer = Buffer.alloc(0);
  return {
    take(bytes) {
      if (!begun && bytes.toString('latin1', 0, 5) !== '%PDF-') throw invalidField('file', 'must begin as a PDF');
      begun = true;
      tail = Buffer.concat([tail, bytes.subarray(-PDF_END)]).subarray(-PDF_END);
    },
    end() {
      if (!tail.includes('%%EOF')) throw invalidField('file', 'must be a whole PDF');
    },
  };
}

/** What of a text is looked at, from its first character on that is no space. */
const BEGINNING = 64;
/**
 * Beginnings by which a browser takes a text for a page (WHATWG MIME Sniffing, section 7.1), and SVG and MathML. Markdown
 * may begin with elements of a page, as many README files do, but not with a page or a script.
 */
const PAGE = /^<(html|head|body|script|iframe|style|title|svg|math)[\s/>]/i;
const PAGE_ELEMENT = /^<(!--|(h1|div|font|table|a|b|br|p)[\s/>])/i;
/** XML and feeds, and what is text only as far as its bytes go. No shorter: a text may begin with GIF, or with BMW. */
const OTHER_DOCUMENT =
  /^(<\?xml|<!doctype|<!entity|<!\[cdata\[|<(rss|feed|rdf:rdf)[\s>]|%PDF-|%!PS|\{\\rtf|GIF8[79]a|RIFF.{4}WEBP)/is;

/** UTF-8 text, with a byte order mark or without, that no program takes for anything else. */
export function inspectText(type: string): Inspection {
  const text = readText();
  const forbidden = type === 'text/markdown' ? [PAGE, OTHER_DOCUMENT] : [PAGE, OTHER_DOCUMENT, PAGE_ELEMENT];
  let beginning = '';
  const look = () => {
    if (forbidden.some((document) => document.test(`${beginning} `))) {
      throw invalidField('file', 'must be plain text, and begins like a document of another kind');
    }
  };
  const add = (more: string) => {
    if (beginning.length === BEGINNING) return;
    // Trimming takes the byte order mark away too.
    beginning = (beginning + more).trimStart().slice(0, BEGINNING);
    if (beginning.length === BEGINNING) look();
  };
  return {
    take: (bytes) => add(text.take(bytes)),
    end() {
      add(text.end());
      look();
    },
  };
}

/** JSON, in UTF-8 text. */
export function inspectJson(): Inspection {
  const text = readText();
  const json = checkJson();
  const problem = 'must be JSON, nested 512 levels deep at most';
  let begun = false;
  const add = (more: string) => {
    const mark = !begun && more.startsWith('\ufeff') ? 1 : 0;
    begun ||= more !== '';
    attempt(() => json.take(more.slice(mark)), problem);
  };
  return {
    take: (bytes) => add(text.take(bytes)),
    end() {
      add(text.end());
      attempt(() => json.end(), problem);
    },
  };
}

/** Text that comes in pieces, which may cut a character in two. */
function readText() {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (bytes: Buffer | undefined, stream: boolean) =>
    attempt(() => decoder.decode(bytes, { stream }), 'must be text in UTF-8');
  return {
    take(bytes: Buffer): string {
      if (bytes.includes(0)) throw invalidField('file', 'must not contain the NUL character');
      return decode(bytes, true);
    },
    end: () => decode(undefined, false),
  };
}

function attempt<T>(work: () => T, problem: string): T {
  try {
    return work();
  } catch {
    throw invalidField('file', problem);
  }
}
