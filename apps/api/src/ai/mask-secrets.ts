import { toStorableText } from '@carillon/db/storable-text';

/** What a message for a user must not repeat. */
export interface Secrets {
  keys: readonly string[];
  prompt: string;
}

const MASK = '[key]';
const LOOKS_LIKE_A_KEY = /\b(?:(?:sk|pk|rk|gsk|xai|nvapi)[-_]|AIza)[\w*.…-]{6,}|\bBearer\s+\S+|\S*\*{3,}\S*/gi;
/** So many characters at either end of a key are enough to take a word for it. */
const TELLTALE = 8;
const ECHO = 24;
const SEARCHED = 16_384;

/**
 * A provider's own words as one line of at most `limit` characters. Providers repeat what they were sent: the keys,
 * whatever looks like one, and stretches of the prompt are masked (security T24, T25).
 */
export function maskSecrets(text: string, secrets: Secrets, limit: number): string {
  let shown = oneLine(toStorableText(text, 4096));
  for (const key of secrets.keys) shown = withoutKey(shown, key);
  shown = shown.replace(LOOKS_LIKE_A_KEY, MASK).slice(0, 2 * limit);
  shown = withoutEcho(shown, oneLine(ends(secrets.prompt))).trim();
  return shown.length > limit ? `${toStorableText(shown, limit - 1)}…` : shown;
}

const oneLine = (text: string) => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

function withoutKey(text: string, key: string): string {
  if (key.length < 4) return text;
  const whole = text.replaceAll(key, MASK);
  if (key.length < 2 * TELLTALE) return whole;
  const [head, tail] = [key.slice(0, TELLTALE).toLowerCase(), key.slice(-TELLTALE).toLowerCase()];
  const betrays = (word: string) => word.toLowerCase().includes(head) || word.toLowerCase().includes(tail);
  return whole
    .split(' ')
    .map((word) => (betrays(word) ? MASK : word))
    .join(' ');
}

/** Of a long prompt only the two ends are looked for: the search takes time for each character of both. */
const ends = (prompt: string) =>
  prompt.length > 2 * SEARCHED ? `${prompt.slice(0, SEARCHED)}\n${prompt.slice(-SEARCHED)}` : prompt;

function withoutEcho(text: string, prompt: string): string {
  const window = Math.min(ECHO, prompt.length);
  if (window < 8) return text;
  let shown = '';
  for (let at = 0; at < text.length; ) {
    let length = window;
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
