/** Deeper than any file that people make, and no deeper than what reads it later survives. */
export const MAX_JSON_DEPTH = 512;

/** Checks JSON as it comes. Both throw a SyntaxError where it is none, or nested deeper than `DEEPEST_JSON`. */
export interface JsonCheck {
  take(text: string): void;
  end(): void;
}

/** What may come next between two values, names and brackets. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end' | 'nothing';

const isSpace = (char: string) => char === ' ' || char === '\n' || char === '\r' || char === '\t';
const AFTER_BACKSLASH = /["\\/bfnrtu]/;
const HEX = /[\da-fA-F]/;
/** By the first character; what is yet to come of each. */
const LITERALS: Record<string, string> = { t: 'rue', f: 'alse', n: 'ull' };

/** Where a number stands. Those that may be the end of it are capital. */
type NumberState = 'minus' | 'Zero' | 'Integer' | 'point' | 'Fraction' | 'exponent' | 'sign' | 'Power';

/** Where `char` leads a number to; null where it is none of it. Comparisons, as a file may hold millions of numbers. */
function follow(state: NumberState, char: string): NumberState | null {
  const isDigit = char >= '0' && char <= '9';
  const isExponent = char === 'e' || char === 'E';
  switch (state) {
    case 'minus':
      return isDigit ? (char === '0' ? 'Zero' : 'Integer') : null;
    case 'Zero':
    case 'Integer':
      if (isDigit) return state === 'Zero' ? null : state;
      return char === '.' ? 'point' : isExponent ? 'exponent' : null;
    case 'point':
      return isDigit ? 'Fraction' : null;
    case 'Fraction':
      return isDigit ? state : isExponent ? 'exponent' : null;
    case 'exponent':
      return char === '+' || char === '-' ? 'sign' : isDigit ? 'Power' : null;
    case 'sign':
    case 'Power':
      return isDigit ? 'Power' : null;
  }
}

/**
 * Checks that a text is one JSON value, in memory that its size and depth do not add to.
 *
 * Not a library: those that read JSON as it comes collect its strings, or keep a stack as deep as a hostile file wants.
 */
export function checkJson(): JsonCheck {
  const open: ('[' | '{')[] = [];
  let expected: Expected = 'value';
  /** Where in a string, a literal or a number the last text ended. */
  let inString = false;
  let escaped = 0;
  let literal = '';
  let number: NumberState | null = null;

  function endValue() {
    expected = open.length === 0 ? 'nothing' : ', or end';
  }

  function begin(char: string) {
    if (char === '"') inString = true;
    else if (char === '[' || char === '{') {
      if (open.push(char) > MAX_JSON_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
      expected = char === '[' ? 'value or ]' : 'name or }';
    } else if (char === '0') number = 'Zero';
    else if (char >= '1' && char <= '9') number = 'Integer';
    else if (char === '-') number = 'minus';
    else literal = LITERALS[char] ?? fail();
  }

  function close(bracket: '[' | '{') {
    if (open.pop() !== bracket) fail();
    endValue();
  }

  function takeStructure(char: string) {
    if (isSpace(char)) return;
    if (char === ']' && (expected === 'value or ]' || expected === ', or end')) close('[');
    else if (char === '}' && (expected === 'name or }' || expected === ', or end')) close('{');
    else if (expected === 'value' || expected === 'value or ]') begin(char);
    else if (expected === 'name' || expected === 'name or }') {
      if (char !== '"') fail();
      inString = true;
      expected = 'name';
    } else if (char === ',' && expected === ', or end') expected = open.at(-1) === '[' ? 'value' : 'name';
    else if (char === ':' && expected === ':') expected = 'value';
    else fail();
  }

  function takeString(char: string) {
    if (escaped > 0) {
      if (escaped > 1 ? !HEX.test(char) : !AFTER_BACKSLASH.test(char)) fail();
      // Four digits follow a `u`, counted down from 5 to 2.
      escaped = escaped > 1 ? (escaped === 2 ? 0 : escaped - 1) : char === 'u' ? 5 : 0;
    } else if (char === '\\') escaped = 1;
    else if (char < ' ') fail();
    else if (char === '"') {
      inString = false;
      if (expected === 'name') expected = ':';
      else endValue();
    }
  }

  /** False where the number has ended before `char`. */
  function takeNumber(state: NumberState, char: string): boolean {
    const next = follow(state, char);
    if (next === null) endNumber();
    else number = next;
    return next !== null;
  }

  function endNumber() {
    if (number === null) return;
    if (!/^[A-Z]/.test(number)) fail();
    number = null;
    endValue();
  }

  return {
    take(text) {
      for (const char of text) {
        if (inString) takeString(char);
        else if (literal !== '') {
          if (char !== literal[0]) fail();
          literal = literal.slice(1);
          if (literal === '') endValue();
        } else if (number === null || !takeNumber(number, char)) takeStructure(char);
      }
    },
    end() {
      endNumber();
      if (expected !== 'nothing' || literal !== '') fail();
    },
  };
}

function fail(): never {
  throw new SyntaxError('no JSON');
}
