import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { OutputChange } from '@carillon/db';
import { formatPlace, type Place } from './watch-path.ts';

const MAX_CHANGES = 100;
/** In bytes of JSON, of the 64 KiB that all changes may have. */
const MAX_BYTES = 60_000;
/** In characters of the texts and field names of a value. */
const MAX_VALUE = 2000;
const MAX_VALUE_DEPTH = 16;

export interface ChangeList {
  changes: OutputChange[];
  /** Returns false once no further change is kept. */
  add(place: Place, from: unknown, to: unknown): boolean;
}

/** Collects changes up to a limit. A last one without a value says that others were left out. */
export function createChangeList(): ChangeList {
  const changes: OutputChange[] = [];
  const paths = new Set<string>();
  let bytes = 0;
  return {
    changes,
    add(place, from, to) {
      const path = formatPlace(place);
      // Two watched paths may lead to the same value.
      if (paths.has(path)) return true;
      const change = toChange(path, from, to);
      bytes += Buffer.byteLength(JSON.stringify(change));
      if (changes.length === MAX_CHANGES || bytes > MAX_BYTES) {
        changes.push({ path: '', cut: true });
        return false;
      }
      paths.add(path);
      changes.push(change);
      return true;
    },
  };
}

function toChange(path: string, from: unknown, to: unknown): OutputChange {
  const before = cutValue(from);
  const after = cutValue(to);
  return {
    path: toStorableText(path, path.length),
    ...(from !== undefined && { from: before.value }),
    ...(to !== undefined && { to: after.value }),
    ...((before.isCut || after.isCut) && { cut: true }),
  };
}

/** Keeps the beginning of a value that is too long. */
export function cutValue(value: unknown): { value: unknown; isCut: boolean } {
  let room = MAX_VALUE;
  let isCut = false;
  const cutText = (text: string) => {
    const kept = toStorableText(text, Math.max(0, room));
    room -= text.length;
    if (room >= 0) return kept;
    isCut = true;
    return `${kept}…`;
  };
  const copy = (given: unknown, depth: number): unknown => {
    if (typeof given === 'string') return cutText(given);
    room -= 4;
    if (typeof given !== 'object' || given === null) return given;
    if (depth > MAX_VALUE_DEPTH) {
      isCut = true;
      return '…';
    }
    if (Array.isArray(given)) {
      const kept: unknown[] = [];
      for (const element of given) {
        if (!hasRoom()) break;
        kept.push(copy(element, depth + 1));
      }
      return kept;
    }
    const kept: [string, unknown][] = [];
    for (const name in given) {
      if (!hasRoom()) break;
      kept.push([cutText(name), copy((given as Record<string, unknown>)[name], depth + 1)]);
    }
    return Object.fromEntries(kept);
  };
  const hasRoom = () => {
    if (room > 0) return true;
    isCut = true;
    return false;
  };
  return { value: copy(value, 0), isCut };
}
