/**
 * Text from outside as PostgreSQL takes it: no NUL, no lone surrogate, at most `limit` UTF-16 code units. A character
 * is never cut in half.
 */
export function toStorableText(text: string, limit: number): string {
  const clean = (text.length > limit ? text.slice(0, limit) : text).replaceAll('\u0000', '');
  return (text.length > limit ? clean.replace(/[\uD800-\uDBFF]$/, '') : clean).toWellFormed();
}

/** Replaces each run of white space and control characters with one space, for texts that must be one line. */
export const toOneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

/**
 * The same for text that comes in pieces: hands each on as soon as it can, and what it hands on is together what
 * `storedText` makes of the whole.
 */
export function createStorableTextStream(limit: number, take: (piece: string) => void) {
  let room = limit;
  let half = '';
  const hand = (text: string) => {
    const piece = toStorableText(text, text.length);
    if (piece) take(piece);
  };
  return {
    add(piece: string) {
      const text = half + piece.slice(0, room).replaceAll('\u0000', '');
      half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
      hand(half ? text.slice(0, -1) : text);
      // Of what is cut at the limit the other half never comes.
      if (piece.length > room) half = '';
      room -= Math.min(piece.length, room);
    },
    /** The end of the text: half a character at its end is none. */
    end() {
      hand(half);
    },
  };
}
