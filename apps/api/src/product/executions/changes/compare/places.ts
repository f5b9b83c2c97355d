import { formatName } from './watch-path.ts';

/** Where a value is in an output. Null is the whole. */
export type Place = { parent: Place; label: Label; depth: number } | null;

/** A field, the position of an element, or what an element is recognized by. */
type Label = { name: string } | number | { key: string; value: unknown };

/** Values that are deeper get the path of the value around them. */
const MAX_DEPTH = 64;
const MAX_PATH_LENGTH = 500;
const MAX_KEY_LENGTH = 100;

export function placeIn(parent: Place, label: Label): Place {
  const depth = parent === null ? 1 : parent.depth + 1;
  return depth > MAX_DEPTH ? parent : { parent, label, depth };
}

/** A path such as `releases[0].date` or `releases[version="1.2"].date`. */
export function formatPlace(place: Place): string {
  const parts: string[] = [];
  for (let at = place; at !== null; at = at.parent) parts.push(formatLabel(at.label, at.parent === null));
  const path = parts.reverse().join('');
  return path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
}

function formatLabel(label: Label, isFirst: boolean): string {
  if (typeof label === 'number') return `[${label}]`;
  if ('name' in label) return formatName(label.name, isFirst);
  const value = JSON.stringify(label.value);
  return `[${label.key}=${value.length > MAX_KEY_LENGTH ? `${value.slice(0, MAX_KEY_LENGTH)}…` : value}]`;
}
