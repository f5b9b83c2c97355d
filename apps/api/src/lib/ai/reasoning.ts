const NAME = String.raw`(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reasoning)`;
/** What reasoning begins with. The last one is that of gpt-oss. */
const OPENING = new RegExp(
  String.raw`^(?:<(${NAME})(?:\s[^<>]{0,30})?>|(\[)THINK\]|(◁)think▷|(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>)`,
  'i',
);
const CLOSING = new RegExp(String.raw`<\/${NAME}>|\[\/THINK\]|◁\/think▷`, 'i');
const MAX_TAG = 60;
const PARTIAL_TAG = /[<[◁]\S*$/;
const BEHIND = 3;
const MAX_QUOTED = 20;

const MONOLOGUE = 'the user,the question,i need to,i have to,i should,we need to,we have to,we should,let me think';
/** How models begin reasoning that their template has opened, in letters only. */
const BEGINNINGS = [
  ...`${MONOLOGUE},hmm,lets see,lets think,thinking process`.split(','),
  ...['okay', 'ok', 'alright'].flatMap((first) =>
    `${MONOLOGUE},so,let me,lets,first i`.split(',').map((next) => first + next),
  ),
].map((words) => words.replaceAll(' ', ''));

interface Sink {
  readonly text: string;
  showText(text: string): void;
  addReasoning(text: string): void;
  takeBackText(): void;
}

/**
 * Separates the answer from the reasoning that models write before it, in tags. Tags further below are the answer's. A
 * closing tag alone ends reasoning that the template of the model has opened, unless the answer quotes it. In a stream,
 * which takes nothing back, a text that begins like reasoning waits for that tag.
 */
export class ReasoningFilter {
  #state: 'start' | 'inside' | 'watched' | 'passed' = 'start';
  #pending = '';
  #searched = 0;
  #closing = CLOSING;
  #isTagged = false;
  #quoted = 0;
  #waits = false;
  readonly #sink: Sink;
  readonly #options: { isStream: boolean; expectsClosing: boolean };
  isUnopened = false;

  constructor(sink: Sink, options: { isStream: boolean; expectsClosing: boolean }) {
    this.#sink = sink;
    this.#options = options;
  }

  /** The text has ended within tagged reasoning. */
  get isInside(): boolean {
    return this.#state === 'inside';
  }

  add(text: string): void {
    this.#pending += text;
    this.#read(false);
  }

  end(): void {
    this.#read(true);
  }

  #read(isEnd: boolean): void {
    let goesOn = true;
    while (goesOn && this.#pending !== '') {
      if (this.#state === 'start') goesOn = this.#readStart(isEnd);
      else if (this.#state === 'inside') goesOn = this.#readInside(isEnd);
      else if (this.#state === 'watched') goesOn = this.#readWatched(isEnd);
      else goesOn = this.#show(this.#pending.length);
    }
  }

  #readStart(isEnd: boolean): boolean {
    const text = this.#pending.trimStart();
    const [tag, name, bracket, triangle] = OPENING.exec(text) ?? [];
    if (tag !== undefined) {
      const other = bracket ? /\[\/THINK\]/i : triangle ? /◁\/think▷/i : /<\|channel\|>final<\|message\|>/i;
      this.#closing = name ? new RegExp(`</${name}>`, 'i') : other;
      return this.#enter('inside', text.slice(tag.length));
    }
    const closing = CLOSING.exec(text);
    if (closing?.index === 0) {
      this.isUnopened ||= !this.#isTagged;
      this.#isTagged = true;
      return this.#enter('start', text.slice(closing[0].length));
    }
    if (!isEnd && (text === '' || (/^[<[◁]/.test(text) && text.length < MAX_TAG))) return false;
    if (this.#isTagged) return this.#enter('passed', text);
    if (this.#options.isStream) {
      const letters = text
        .slice(0, MAX_TAG)
        .replace(/[^a-z]/gi, '')
        .toLowerCase();
      const isLike = this.#options.expectsClosing || BEGINNINGS.some((words) => letters.startsWith(words));
      if (!isLike && !isEnd && text.length < MAX_TAG && BEGINNINGS.some((words) => words.startsWith(letters))) {
        return false;
      }
      this.#waits = isLike;
    }
    return this.#enter('watched', this.#pending);
  }

  #readInside(isEnd: boolean): boolean {
    const found = this.#closing.exec(this.#pending);
    const end = found?.index ?? this.#findPartialTag(isEnd);
    this.#sink.addReasoning(this.#pending.slice(0, end));
    if (found) this.#isTagged = true;
    return found ? this.#enter('start', this.#pending.slice(end + found[0].length)) : this.#keep(end);
  }

  #readWatched(isEnd: boolean): boolean {
    const found = CLOSING.exec(this.#pending.slice(this.#searched));
    if (!found) {
      this.#searched = this.#findPartialTag(isEnd);
      return this.#waits && !isEnd ? false : this.#show(this.#searched);
    }
    const at = this.#searched + found.index;
    const end = at + found[0].length;
    if (!isEnd && this.#pending.length < end + BEHIND) return false;
    const before = this.#sink.text + this.#pending.slice(0, at);
    if (isQuoted(before, this.#pending.slice(end))) {
      this.#searched = end;
      this.#quoted += 1;
      return this.#quoted < MAX_QUOTED || this.#enter('passed', this.#pending);
    }
    this.isUnopened = true;
    this.#isTagged = true;
    this.#sink.takeBackText();
    this.#sink.addReasoning(this.#pending.slice(0, at));
    return this.#enter('start', this.#pending.slice(end));
  }

  #findPartialTag(isEnd: boolean): number {
    const { length } = this.#pending;
    return isEnd ? length : length - (PARTIAL_TAG.exec(this.#pending.slice(-MAX_TAG))?.[0].length ?? 0);
  }

  #enter(state: 'start' | 'inside' | 'watched' | 'passed', pending: string): boolean {
    this.#state = state;
    this.#pending = pending;
    this.#searched = 0;
    return true;
  }

  #show(end: number): boolean {
    this.#sink.showText(this.#pending.slice(0, end));
    return this.#keep(end);
  }

  #keep(from: number): boolean {
    this.#pending = this.#pending.slice(from);
    this.#searched = 0;
    return false;
  }
}

const ANY_OPENING = /<(?:\w{1,20}:)?(?:think(?:ing)?|thoughts?|reasoning)\b|\[THINK\]|◁think▷/i;
const FENCE = /^ {0,3}(?:```|~~~)/gm;
const QUOTING_BEFORE = /(?:(?:^|[\s(:,=[{])["'“‘«„]|[([{|]|(?:^|\n)[ \t]*(?:[-*+|]|\d+[.)])[ \t]+)$/;
const SENTENCE_BEFORE = /[^\s.!?…:;)\]}"'”’*_][ \t]+$/;
const SENTENCE_AFTER = /^(?:[ \t]+[\p{Ll}|]|[ \t]*[,;.:)"'”’»|])/u;

/** Whether a text writes about a closing tag rather than with it. */
function isQuoted(before: string, after: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if ((before.match(FENCE)?.length ?? 0) % 2 === 1 || line.split('`').length % 2 === 0) return true;
  if (ANY_OPENING.test(before)) return true;
  const near = before.slice(-50);
  return QUOTING_BEFORE.test(near) || (SENTENCE_BEFORE.test(near) && SENTENCE_AFTER.test(after));
}
