/** Later readers survive this depth. */
export const MAX_JSON_DEPTH = 512;

const SPACE = ' \t\n\r';
const PUNCTUATION = '[]{},:"';
/** No quote, backslash or control character. */
const PLAIN_TEXT = /[ !#-[\]-\uffff]*/y;
const WORD = /[-+.0-9A-Za-z]*/y;
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)$/;
const ESCAPED = '"\\/bfnrtu';
const HEX_DIGIT = /[0-9A-Fa-f]/;

/**
 * Checks the syntax of JSON piece by piece, without its values: 10 MiB of `[],[],…` take `JSON.parse` half a second in
 * which the process does nothing else, and hundreds of megabytes. Throws a `SyntaxError`.
 */
export class JsonSyntax {
  /** What may come next; `first…`: or the end of the array or object that has just begun. */
  #expected: 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'commaOrEnd' = 'value';
  /** The open arrays and objects, by the character that ends them. */
  readonly #open: (']' | '}')[] = [];
  #inString = false;
  #stringIsKey = false;
  /** Characters that an escape still needs: 5 from its `u` on. */
  #escape = 0;
  /** A number or a literal, which the next piece may continue. */
  #word = '';

  add(text: string): void {
    for (let at = 0; at < text.length; ) at = this.#inString ? this.#readString(text, at) : this.#readToken(text, at);
  }

  end(): void {
    if (this.#word !== '') this.#endWord();
    if (this.#inString || this.#open.length > 0 || this.#expected !== 'commaOrEnd') throw new SyntaxError('incomplete');
  }

  #readString(text: string, from: number): number {
    if (this.#escape > 0) {
      this.#readEscape(text[from] as string);
      return from + 1;
    }
    const at = skip(PLAIN_TEXT, text, from);
    if (at === text.length) return at;
    if (text[at] === '\\') this.#escape = 1;
    else if (text[at] === '"') {
      this.#inString = false;
      this.#expected = this.#stringIsKey ? 'colon' : 'commaOrEnd';
    } else throw new SyntaxError('a control character in a string');
    return at + 1;
  }

  #readEscape(character: string) {
    // 1: the character after the backslash; 5 to 2: the digits after a `u`.
    const isValid = this.#escape === 1 ? ESCAPED.includes(character) : HEX_DIGIT.test(character);
    if (!isValid) throw new SyntaxError('an unknown escape');
    if (this.#escape === 1) this.#escape = character === 'u' ? 5 : 0;
    else this.#escape = this.#escape === 2 ? 0 : this.#escape - 1;
  }

  #readToken(text: string, from: number): number {
    const character = text[from] as string;
    if (!PUNCTUATION.includes(character)) {
      const afterWord = skip(WORD, text, from);
      this.#word += text.slice(from, afterWord);
      if (afterWord > from) return afterWord;
    }
    if (this.#word !== '') this.#endWord();
    if (character === '"') this.#beginString();
    else if (character === '[' || character === '{') this.#begin(character);
    else if (character === ']' || character === '}') this.#close(character);
    else if (character === ':' || character === ',') this.#separate(character);
    else if (!SPACE.includes(character)) throw new SyntaxError('an unexpected character');
    return from + 1;
  }

  #endWord() {
    this.#expectValue();
    if (!SCALAR.test(this.#word)) throw new SyntaxError('an unknown word');
    this.#word = '';
    this.#expected = 'commaOrEnd';
  }

  #beginString() {
    this.#stringIsKey = this.#expected === 'key' || this.#expected === 'firstKey';
    if (!this.#stringIsKey) this.#expectValue();
    this.#inString = true;
  }

  #begin(character: '[' | '{') {
    this.#expectValue();
    this.#open.push(character === '[' ? ']' : '}');
    if (this.#open.length > MAX_JSON_DEPTH) throw new SyntaxError(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    this.#expected = character === '[' ? 'firstValue' : 'firstKey';
  }

  #close(character: ']' | '}') {
    const first = character === ']' ? 'firstValue' : 'firstKey';
    const isPlace = this.#expected === 'commaOrEnd' || this.#expected === first;
    if (!isPlace || this.#open.pop() !== character) throw new SyntaxError(`an unexpected ${character}`);
    this.#expected = 'commaOrEnd';
  }

  #separate(character: string) {
    const inner = this.#open.at(-1);
    if (character === ':' && this.#expected === 'colon') this.#expected = 'value';
    else if (character === ',' && this.#expected === 'commaOrEnd' && inner) {
      this.#expected = inner === ']' ? 'value' : 'key';
    } else throw new SyntaxError('an unexpected character');
  }

  #expectValue() {
    if (this.#expected !== 'value' && this.#expected !== 'firstValue') throw new SyntaxError('an unexpected value');
  }
}

/** The position after the match, which may be empty. */
function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
}
