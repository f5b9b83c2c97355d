const MAX_CHARACTERS = 160;

const ENTRY = /\s*"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"?|[-+.\deE]+|true|false|null)\s*,?/y;

/** The first values of a JSON object, which may be cut: `price 59.9 · shop Gartenhof`. Null if there are none. */
function describeJson(text: string): string | null {
  const entries: string[] = [];
  ENTRY.lastIndex = text.indexOf('{') + 1;
  for (let entry = ENTRY.exec(text); entry; entry = ENTRY.exec(text)) {
    const [, name = '', value = ''] = entry;
    entries.push(`${name} ${value.replace(/^"|"$/g, '').replace(/\\(.)/g, (_all, one) => (one === 'n' ? ' ' : one))}`);
  }
  return entries.length > 0 ? entries.join(' · ') : null;
}

/** The first line of an answer that has words, as plain text without the marks of Markdown. */
export function firstLine(text: string, maxCharacters = MAX_CHARACTERS): string {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? text.trim();
  const json = /^\s*\{\s*"/.test(text) ? describeJson(text) : null;
  const plain = json ?? line.replace(/^[\s#>*_`-]+|[*_`]{2,}|`/g, '').trim();
  const characters = [...plain];
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('').trimEnd()}…` : plain;
}

interface Named {
  url: string;
  description: string | null;
}

/** The description of a webhook, since several may have one host; else its host. */
export const nameWebhook = ({ url, description }: Named): string => description || hostOf(url);

/** Of an address only the host is shown: the rest of it may contain a secret of the receiver. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
