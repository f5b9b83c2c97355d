/** Of so many words, a text that two languages share is not a name but a sentence left in one of them. */
const MIN_WORDS = 3;

/** The texts of `translated` that are in `original` too, word for word. */
export function findSharedTexts(original: readonly string[], translated: readonly string[]): string[] {
  const known = new Set(original.map(tidy));
  return [...new Set(translated.map(tidy))].filter((text) => countWords(text) >= MIN_WORDS && known.has(text));
}

const tidy = (text: string) => text.replace(/\s+/g, ' ').trim();

const countWords = (text: string) => text.match(/(?<!\S)\p{L}{2,}(?![\p{L}_])/gu)?.length ?? 0;
