/** Removes NUL and lone surrogates, which PostgreSQL rejects, and cuts at `limit` UTF-16 units without splitting a pair. */
export function toStorableText(text: string, limit: number): string {
  const clean = (text.length > limit ? text.slice(0, limit) : text).replaceAll('\u0000', '');
  return (text.length > limit ? clean.replace(/[\uD800-\uDBFF]$/, '') : clean).toWellFormed();
}

/** Replaces each run of white space and control characters with one space, for texts that must be one line. */
export const toOneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

/** Like `toStorableText` for text that arrives in chunks. Each is passed to `onText` as soon as possible. */
export function createStorableTextStream(limit: number, onText: (text: string) => void) {
  let remaining = limit;
  let highSurrogate = '';
  const emit = (text: string) => {
    const clean = toStorableText(text, text.length);
    if (clean) onText(clean);
  };
  return {
    add(chunk: string) {
      const text = highSurrogate + chunk.slice(0, remaining).replaceAll('\u0000', '');
      highSurrogate = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
      emit(highSurrogate ? text.slice(0, -1) : text);
      if (chunk.length > remaining) highSurrogate = '';
      remaining -= Math.min(chunk.length, remaining);
    },
    end() {
      emit(highSurrogate);
    },
  };
}
