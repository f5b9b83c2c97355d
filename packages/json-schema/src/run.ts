/** Of about 20 ns each, so that a check ends within 50 ms, whatever the schema and the value are. */
const MAX_STEPS = 1_500_000;
const STEPS_PER_SCHEMA = 20;
const STEPS_PER_ENTRY = 30;
const MAX_DEPTH = 1000;
const MAX_PROBLEMS = 10;

export interface Problem {
  /** A dotted path such as `items[0].price`; empty for the whole value. */
  path: string;
  message: string;
}

/** A place in the value that is checked. Null for the whole value. */
export type Place = { parent: Place; key: string | number } | null;

export class TooManySteps extends Error {}

/** What one check of a value has found and used up. */
export class Run {
  readonly problems: Problem[] = [];
  #steps = 0;
  #depth = 0;
  #silent = 0;

  /** Whether only the outcome counts, since a failure here is not a problem by itself. */
  get isSilent(): boolean {
    return this.#silent > 0 || this.problems.length >= MAX_PROBLEMS;
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw new TooManySteps();
  }

  enterSchema(): void {
    this.spend(STEPS_PER_SCHEMA);
    if (++this.#depth > MAX_DEPTH) throw new TooManySteps();
  }

  leaveSchema(): void {
    this.#depth--;
  }

  silently<T>(work: () => T): T {
    this.#silent++;
    const outcome = work();
    this.#silent--;
    return outcome;
  }

  /** Always returns false. */
  fail(place: Place, message: string): false {
    if (!this.isSilent) this.problems.push({ path: toPath(place), message });
    return false;
  }
}

const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$-]{0,99}$/u;

function toPath(place: Place): string {
  const keys: (string | number)[] = [];
  for (let at = place; at; at = at.parent) keys.unshift(at.key);
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    if (!IDENTIFIER.test(key)) return `${path}[${quote(key)}]`;
    return path === '' ? key : `${path}.${key}`;
  }, '');
}

/** A name or text of unknown origin, short and in one line. */
export const quote = (text: string): string =>
  JSON.stringify(text.length > 100 ? `${text.slice(0, 99).toWellFormed()}…` : text);

/** The properties and items of one value that some schema has evaluated. */
export class Evaluated {
  #allProperties = false;
  readonly #properties = new Set<string>();
  /** Items before this index. */
  #items = 0;
  readonly #otherItems = new Set<number>();

  hasProperty = (name: string): boolean => this.#allProperties || this.#properties.has(name);
  hasItem = (index: number): boolean => index < this.#items || this.#otherItems.has(index);

  addProperty(name: string): void {
    this.#properties.add(name);
  }

  addAllProperties(): void {
    this.#allProperties = true;
  }

  addItem(index: number): void {
    this.#otherItems.add(index);
  }

  addItemsBefore(index: number): void {
    this.#items = Math.max(this.#items, index);
  }

  merge(other: Evaluated, run: Run): void {
    run.spend(STEPS_PER_ENTRY * (other.#properties.size + other.#otherItems.size));
    this.#allProperties ||= other.#allProperties;
    this.addItemsBefore(other.#items);
    for (const name of other.#properties) this.#properties.add(name);
    for (const index of other.#otherItems) this.#otherItems.add(index);
  }
}
