/** What stands in examples and templates, and is left there. */
const PLACEHOLDER =
  /change.?(me|it|this)|replace.?(me|it|this)|placeholder|example|password|default|insecure|your.?(own|key|secret)|to.?be.?set/i;

/** Random bytes have this many different ones in 32 of them with near certainty, written as hexadecimal digits too. */
const DIFFERENT_AT_LEAST = 8;

/** Why a secret of enough bytes can be guessed all the same; null when nothing speaks for that. */
export function findWeakness(secret: Buffer): string | null {
  const text = secret.toString('latin1');
  if (PLACEHOLDER.test(text)) return 'looks like a placeholder';
  if (new Set(text).size < DIFFERENT_AT_LEAST) return 'has too few different characters';
  if (isRepetition(text)) return 'repeats itself';
  if (isSequence(text)) return 'is a sequence';
  return null;
}

/** Whether it is one piece over and over, the last one cut off maybe. */
function isRepetition(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length++) {
    if (text.slice(length) === text.slice(0, -length)) return true;
  }
  return false;
}

/** Whether most characters are the neighbours of those before them, as in `abcdef…` or `9876543210…`. */
function isSequence(text: string): boolean {
  let neighbours = 0;
  for (let at = 1; at < text.length; at++) {
    if (Math.abs(text.charCodeAt(at) - text.charCodeAt(at - 1)) === 1) neighbours += 1;
  }
  return neighbours > text.length / 2;
}
