const MAX_CHARACTERS = 160;

/** The first line of an answer that has words, as plain text without the marks of Markdown. */
export function firstLine(text: string): string {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? text.trim();
  const plain = line.replace(/^[\s#>*_`-]+|[*_`]{2,}|`/g, '').trim();
  const characters = [...plain];
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join('').trimEnd()}…` : plain;
}
