import { type Place, placeIn, type WatchStep } from './watch-path.ts';

/** The value of two outputs at one place; `undefined` is missing, which JSON cannot express. */
export interface Pair {
  place: Place;
  from: unknown;
  to: unknown;
}

/** Finds what a path leads to in either output. Elements of lists are paired by position, or by a key that the path names. */
export function findPairs(whole: Pair, steps: readonly WatchStep[], onPair: () => void): Pair[] {
  let pairs = [whole];
  for (const step of steps) {
    const next: Pair[] = [];
    for (const pair of pairs) {
      for (const found of takeStep(pair, step, onPair)) {
        if (found.from === undefined && found.to === undefined) continue;
        onPair();
        next.push(found);
      }
    }
    pairs = next;
  }
  return pairs;
}

function takeStep({ place, from, to }: Pair, step: WatchStep, onPair: () => void): Iterable<Pair> {
  if (step.kind === 'name') {
    const { name } = step;
    return [{ place: placeIn(place, { name }), from: readField(from, name), to: readField(to, name) }];
  }
  const before = toList(from);
  const after = toList(to);
  if (step.kind === 'at') return [pairAt(place, step.index, before, after)];
  return step.kind === 'each'
    ? pairByPosition(place, before, after)
    : pairByKey(place, groupByKey(before, step.key, onPair), groupByKey(after, step.key, onPair), step.key);
}

/** The own field of an object; undefined if it has none. */
const readField = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const pairAt = (place: Place, index: number, before: readonly unknown[], after: readonly unknown[]): Pair => ({
  place: placeIn(place, index),
  from: before[index],
  to: after[index],
});

function* pairByPosition(place: Place, before: readonly unknown[], after: readonly unknown[]): Generator<Pair> {
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length; index++) yield pairAt(place, index, before, after);
}

type Elements = { value: unknown; index: number }[];
type Groups = Map<unknown, Elements>;

/** Elements with the same key, or without one, are paired in their order. */
function* pairByKey(place: Place, earlier: Groups, later: Groups, key: string): Generator<Pair> {
  for (const id of new Set([...later.keys(), ...earlier.keys()])) {
    const olds = earlier.get(id) ?? [];
    const news = later.get(id) ?? [];
    const isUnique = id !== undefined && olds.length <= 1 && news.length <= 1;
    for (let at = 0; at < Math.max(olds.length, news.length); at++) {
      const element = (news[at] ?? olds[at]) as Elements[number];
      const label = isUnique ? { key, value: id } : element.index;
      yield { place: placeIn(place, label), from: olds[at]?.value, to: news[at]?.value };
    }
  }
}

/** A key is a text, a number, `true`, `false` or null; other values count as none. */
function groupByKey(list: readonly unknown[], key: string, onElement: () => void): Groups {
  const groups: Groups = new Map();
  for (const [index, value] of list.entries()) {
    onElement();
    const field = readField(value, key);
    const id = typeof field === 'object' && field !== null ? undefined : field;
    const group = groups.get(id);
    if (group) group.push({ value, index });
    else groups.set(id, [{ value, index }]);
  }
  return groups;
}
