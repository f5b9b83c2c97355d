import { imageDimensionsFromData } from 'image-dimensions';
import { invalidField } from '../errors.ts';
import { JsonSyntax, MAX_JSON_DEPTH } from './json-syntax.ts';

/** Both functions throw a validation error on `file`. */
export interface ContentCheck {
  /** The first call has the whole signature, or the whole file. */
  add(bytes: Buffer): void;
  end(): void;
}

/** 200 MB when decoded. */
const MAX_PIXELS = 50_000_000;
const NO_SIZE = 'must be an image whose header can be read';

export function checkImage(type: string): ContentCheck {
  const chunks: Buffer[] = [];
  let collected = 0;
  let nextAttemptAt = 0;
  let isKnown = false;

  const readSize = () => {
    const size = attempt(() => imageDimensionsFromData(Buffer.concat(chunks)), NO_SIZE);
    if (size === undefined) return false;
    const pixels = size.width * size.height;
    if (pixels === 0) throw invalidField('file', 'must be an image that has a size');
    if (pixels > MAX_PIXELS) throw invalidField('file', 'must be an image of at most 50 megapixels');
    chunks.length = 0;
    return true;
  };
  return {
    add(bytes) {
      if (isKnown) return;
      chunks.push(bytes);
      collected += bytes.length;
      // A JPEG's size follows any number of segments.
      if (collected < nextAttemptAt) return;
      nextAttemptAt = 2 * collected;
      isKnown = readSize();
      if (!isKnown && type !== 'image/jpeg') throw invalidField('file', NO_SIZE);
    },
    end() {
      if (!isKnown && !readSize()) throw invalidField('file', NO_SIZE);
    },
  };
}

/** Some programs append bytes after the end, so readers search this far. */
const PDF_END_BYTES = 1024;

export function checkPdf(): ContentCheck {
  let hasBegun = false;
  let tail: Buffer = Buffer.alloc(0);
  return {
    add(bytes) {
      if (!hasBegun && bytes.toString('latin1', 0, 5) !== '%PDF-') throw invalidField('file', 'must start like a PDF');
      hasBegun = true;
      tail = Buffer.concat([tail, bytes.subarray(-PDF_END_BYTES)]).subarray(-PDF_END_BYTES);
    },
    end() {
      if (!tail.includes('%%EOF')) throw invalidField('file', 'must be a whole PDF');
    },
  };
}

const BEGINNING = 64;
/** Elements that make a text HTML (WHATWG MIME Sniffing, section 7.1), with SVG and MathML. */
const PAGE = /^<(html|head|body|script|iframe|style|title|svg|math)[\s/>]/i;
/** These too, except that many README files begin with them. */
const PAGE_ELEMENT = /^<(!--|(h1|div|font|table|a|b|br|p)[\s/>])/i;
/** GIF and BMP in full, since a text may begin with "GIF" or "BMW". */
const OTHER_DOCUMENT =
  /^(<\?xml|<!doctype|<!entity|<!\[cdata\[|<(rss|feed|rdf:rdf)[\s>]|%PDF-|%!PS|\{\\rtf|GIF8[79]a|RIFF.{4}WEBP)/is;

/** UTF-8, with or without a byte order mark, that no program reads as another format. */
export function checkText(type: string): ContentCheck {
  const text = createTextReader();
  const forbidden = type === 'text/markdown' ? [PAGE, OTHER_DOCUMENT] : [PAGE, OTHER_DOCUMENT, PAGE_ELEMENT];
  let beginning = '';
  const assertPlain = () => {
    if (forbidden.some((format) => format.test(`${beginning} `))) {
      throw invalidField('file', 'must be plain text, but starts like a document of another type');
    }
  };
  const add = (more: string) => {
    if (beginning.length === BEGINNING) return;
    // Trims the byte order mark too.
    beginning = (beginning + more).trimStart().slice(0, BEGINNING);
    if (beginning.length === BEGINNING) assertPlain();
  };
  return {
    add: (bytes) => add(text.read(bytes)),
    end() {
      add(text.end());
      assertPlain();
    },
  };
}

const NOT_JSON = `must be JSON, nested ${MAX_JSON_DEPTH} levels deep at most`;

export function checkJson(): ContentCheck {
  const text = createTextReader();
  const syntax = new JsonSyntax();
  let hasBegun = false;
  const add = (more: string) => {
    const json = hasBegun ? more : more.replace(/^\ufeff/, '');
    hasBegun ||= more !== '';
    attempt(() => syntax.add(json), NOT_JSON);
  };
  return {
    add: (bytes) => add(text.read(bytes)),
    end() {
      add(text.end());
      attempt(() => syntax.end(), NOT_JSON);
    },
  };
}

function createTextReader() {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (bytes: Buffer | undefined, stream: boolean) =>
    attempt(() => decoder.decode(bytes, { stream }), 'must be text in UTF-8');
  return {
    read(bytes: Buffer): string {
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
