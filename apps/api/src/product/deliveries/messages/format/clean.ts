/** All control characters but tab and line feed. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/gu;
/** Marks that change the direction of the text around them, so that it reads as something else. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Leaves out control characters, marks of direction and halves of characters. Line ends are `\n`. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(CONTROLS, (one) => (one === '\n' || one === '\t' ? one : ''))
    .replace(DIRECTIONS, '');
}

/** Like `cleanText`, in one line without space around it. */
export const cleanLine = (text: string) => cleanText(text).replace(/\s+/g, ' ').trim();
