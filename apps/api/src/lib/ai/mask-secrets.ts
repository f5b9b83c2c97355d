import { toOneLine, toStorableText } from '@carillon/contract/validation/unsafe-values';

export interface RequestSecrets {
  keys: readonly string[];
  prompt: string;
}

const MASK = '[key]';
const KEY_PATTERN = /\b(?:(?:sk|pk|rk|gsk|xai|nvapi)[-_]|AIza)[\w*.…-]{6,}|\bBearer\s+\S+|\S*\*{3,}\S*/gi;
/** This many characters from either end of a key mark a word as the key. */
const KEY_END = 8;
const MIN_ECHO = 24;
const MAX_SEARCHED = 16_384;

/** One line of at most `limit` characters. Keys, anything that looks like one, and parts of the prompt are masked. */
export function maskSecrets(text: string, secrets: RequestSecrets, limit: number): string {
  let shown = toOneLine(toStorableText(text, 4096));
  for (const key of secrets.keys) shown = maskKey(shown, key);
  shown = shown.replace(KEY_PATTERN, MASK).slice(0, 2 * limit);
  shown = maskEcho(shown, toOneLine(takeEnds(secrets.prompt))).trim();
  return shown.length > limit ? `${toStorableText(shown, limit - 1)}…` : shown;
}

function maskKey(text: string, key: string): string {
  if (key.length < 4) return text;
  const masked = text.replaceAll(key, MASK);
  if (key.length < 2 * KEY_END) return masked;
  const [head, tail] = [key.slice(0, KEY_END).toLowerCase(), key.slice(-KEY_END).toLowerCase()];
  const hasKeyEnd = (word: string) => word.toLowerCase().includes(head) || word.toLowerCase().includes(tail);
  return masked
    .split(' ')
    .map((word) => (hasKeyEnd(word) ? MASK : word))
    .join(' ');
}

/** A long prompt is searched at its two ends only: the search takes time for each character of both texts. */
const takeEnds = (prompt: string) =>
  prompt.length > 2 * MAX_SEARCHED ? `${prompt.slice(0, MAX_SEARCHED)}\n${prompt.slice(-MAX_SEARCHED)}` : prompt;

function maskEcho(text: string, prompt: string): string {
  const minimum = Math.min(MIN_ECHO, prompt.length);
  if (minimum < 8) return text;
  let shown = '';
  for (let at = 0; at < text.length; ) {
    let length = minimum;
    if (at + length > text.length || !prompt.includes(text.slice(at, at + length))) {
      shown += text[at];
      at += 1;
      continue;
    }
    while (at + length < text.length && prompt.includes(text.slice(at, at + length + 1))) length += 1;
    shown += '[prompt]';
    at += length;
  }
  return shown;
}
