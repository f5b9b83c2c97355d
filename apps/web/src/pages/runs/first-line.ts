const MAX_CHARACTERS = 160;

/** The first line of an answer as plain text, without the marks of Markdown that it begins with. */
export function firstLine(text: string): string {
  const lines = text.split('\n').map((line) =>
    line
      .replace(/^[\s#>*_`-]+/, '')
      .replace(/[*_`]{2,}/g, '')
      .trim(),
  );
  const line = lines.find((one) => one !== '') ?? '';
  const characters = [...line];
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join('')}…` : line;
}
