const MASK = '[secret]';
/** A shorter word could be any word of a page. */
const MIN_WORD = 6;

/** Returns a function that masks the value of a header, the words in it, and their usual encodings. */
export function createMask(value: string): (text: string) => string {
  const forms = [value, ...value.split(/[\s=,;]+/), ...readBasic(value)]
    .filter((form) => form === value || form.length >= MIN_WORD)
    .flatMap((form) => [form, encodeURIComponent(form), JSON.stringify(form).slice(1, -1), toBase64(form)]);
  // The longest first, because it may contain another.
  const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => sorted.reduce((masked, form) => masked.replaceAll(form, MASK), text);
}

/** The user name with the password, and the password, of basic authentication. */
function readBasic(value: string): string[] {
  const encoded = /^basic\s+(\S+)$/i.exec(value)?.[1];
  if (encoded === undefined) return [];
  const pair = Buffer.from(encoded, 'base64').toString();
  return [pair, pair.slice(pair.indexOf(':') + 1)];
}

const toBase64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
