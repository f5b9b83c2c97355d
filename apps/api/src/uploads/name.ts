import { invalidField } from '../errors.ts';

const LONGEST = 255;
/** Control characters, line separators, and marks that turn the order of letters around: `invoice‮fdp.exe`. */
const DECEPTIVE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/**
 * The name that a file is shown by: the last segment of the path that a client sent, in Unicode NFC, of 1 to 255
 * characters. It never becomes a path. Refused as `file` (400): none, a longer one, control and direction characters.
 */
export function cleanName(given: string): string {
  const name = (given.split(/[/\\]/).at(-1) ?? '').normalize('NFC').trim();
  if (name === '' || name === '.' || name === '..') throw invalidField('file', 'must have a name');
  if (DECEPTIVE.test(name)) throw invalidField('file', 'must not have control or direction characters in its name');
  if ([...name].length > LONGEST) throw invalidField('file', `must have a name of at most ${LONGEST} characters`);
  return name;
}
