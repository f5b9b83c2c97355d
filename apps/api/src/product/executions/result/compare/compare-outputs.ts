import type { OutputChange } from '@carillon/db';
import { type ChangeList, createChangeList } from './change-list.ts';
import { findPairs, isObject, type Pair } from './find-pairs.ts';
import { parseWatchPath, placeIn } from './watch-path.ts';

/** Of both outputs, over all watched paths. */
const MAX_COMPARED = 100_000;

class TooMuch extends Error {}

/**
 * Lists how the watched values of two outputs differ; without a path, the whole outputs. Null if they are too large to
 * compare. `undefined` is a missing output.
 */
export function compareOutputs(from: unknown, to: unknown, watch: readonly string[]): OutputChange[] | null {
  const list = createChangeList();
  let compared = 0;
  const onPair = () => {
    if (++compared > MAX_COMPARED) throw new TooMuch();
  };
  const whole: Pair = { place: null, from, to };
  try {
    for (const path of watch.length > 0 ? new Set(watch) : [null]) {
      const pairs = path === null ? [whole] : findPairs(whole, parseWatchPath(path) ?? [], onPair);
      for (const pair of pairs) if (!addChanges(list, pair, onPair)) return list.changes;
    }
  } catch (error) {
    if (error instanceof TooMuch) return null;
    throw error;
  }
  return list.changes;
}

/** Without recursion, because the depth of an output has no limit. Returns false once the list is full. */
function addChanges(list: ChangeList, pair: Pair, onPair: () => void): boolean {
  const stack = [pair];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { place, from, to } = next;
    const inner = findInnerPairs(next, onPair);
    if (inner !== null) for (const one of inner.reverse()) stack.push(one);
    else if (from !== to && !list.add(place, from, to)) return false;
  }
  return true;
}

/** The elements or fields that differ; null unless both values are arrays, or both objects. */
function findInnerPairs({ place, from, to }: Pair, onPair: () => void): Pair[] | null {
  const inner: Pair[] = [];
  if (Array.isArray(from) && Array.isArray(to)) {
    for (let index = 0; index < Math.max(from.length, to.length); index++) {
      onPair();
      if (from[index] !== to[index]) inner.push({ place: placeIn(place, index), from: from[index], to: to[index] });
    }
    return inner;
  }
  if (!isObject(from) || !isObject(to)) return null;
  for (const name of new Set([...Object.keys(to), ...Object.keys(from)])) {
    onPair();
    const before = Object.hasOwn(from, name) ? from[name] : undefined;
    const after = Object.hasOwn(to, name) ? to[name] : undefined;
    if (before !== after) inner.push({ place: placeIn(place, { name }), from: before, to: after });
  }
  return inner;
}
