import { RE2JS } from 're2js';

const MAX_LENGTH = 200;
const MAX_PATTERNS = 50;
/** Of all patterns together. */
const MAX_TOTAL_LENGTH = 2000;
/** The sum of the repetitions that the patterns spell out, such as the 20 of `a{2,20}`: each copies what it repeats. */
const MAX_REPETITIONS = 500;
const MAX_INSTRUCTIONS = 2000;

export interface Pattern {
  source: string;
  /** Matching costs at most its product with the length of the text. */
  instructions: number;
  matches(text: string): boolean;
}

/** The patterns of one schema. */
export class Patterns {
  readonly #known = new Map<string, Pattern>();
  #length = 0;
  #repetitions = 0;
  #instructions = 0;

  /** Compiles a pattern for matching in linear time. Returns a message if it is wrong or too much. */
  compile(source: string): Pattern | string {
    const known = this.#known.get(source);
    if (known) return known;
    if (source.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
    this.#length += source.length;
    this.#repetitions += countRepetitions(source);
    if (this.#known.size >= MAX_PATTERNS) return `is one of more than ${MAX_PATTERNS} different patterns`;
    if (this.#length > MAX_TOTAL_LENGTH) return `brings the patterns above ${MAX_TOTAL_LENGTH} characters`;
    if (this.#repetitions > MAX_REPETITIONS) return `brings the patterns above ${MAX_REPETITIONS} repetitions`;
    let compiled: RE2JS;
    try {
      compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    } catch {
      return 'is not a regular expression of RE2, which has no look-around and no back-references';
    }
    const instructions = compiled.programSize();
    this.#instructions += instructions;
    if (this.#instructions > MAX_INSTRUCTIONS) return 'brings the patterns above what can be checked in time';
    const pattern = { source, instructions, matches: (text: string) => compiled.test(text) };
    this.#known.set(source, pattern);
    return pattern;
  }
}

function countRepetitions(source: string): number {
  let sum = 0;
  for (const [, from = '0', to] of source.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)) sum += Number(to || from);
  return sum;
}
