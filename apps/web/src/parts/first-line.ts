const MAX_CHARACTERS = 160;

/** The beginning of a JSON object as text: `price 59.9, shop Gartenhof`. */
const describeJson = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/"((?:[^"\\]|\\.)*)" ?: ?/g, '$1 ')
    .replace(/"((?:[^"\\]|\\.)*)"?/g, '$1')
    .replace(/[{}]/g, '')
    .trim();

/** The first line of an answer that has words, as plain text without the marks of Markdown. */
export function firstLine(text: string, maxCharacters = MAX_CHARACTERS): string {
  const isJson = /^\s*\{\s*"/.test(text);
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? text.trim();
  const plain = isJson ? describeJson(text) : line.replace(/^[\s#>*_`-]+|[*_`]{2,}|`/g, '').trim();
  const characters = [...plain];
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('').trimEnd()}…` : plain;
}
