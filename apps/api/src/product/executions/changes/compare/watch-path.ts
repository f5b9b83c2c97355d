export type WatchStep =
  | { kind: 'name'; name: string }
  | { kind: 'at'; index: number }
  | { kind: 'each' }
  /** Each element, recognized by the value of its field `key`. */
  | { kind: 'keyed'; key: string };

const NAME = /[^.[\]"\s]+/y;
/** `["a name"]`, a JSON string in brackets. */
const QUOTED = /\[("(?:[^"\\]|\\.)*")\]/y;
/** `[]`, `[0]` or `[version]` */
const ELEMENTS = /\[([^[\]"]*)\]/y;
const PLAIN_NAME = /^[^.[\]"\s]+$/;
const MAX_INDEX_DIGITS = 6;

/**
 * Parses a path such as `price`, `releases[].date`, `releases[0]`, `releases[version].date` or `["odd name"].value`. Returns
 * null if it is not valid; a name with white space must be quoted.
 */
export function parseWatchPath(path: string): WatchStep[] | null {
  const steps: WatchStep[] = [];
  let at = 0;
  const read = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(path);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < path.length) {
    const isFirst = at === 0;
    const hasDot = path[at] === '.' && !isFirst;
    if (hasDot) at++;
    if (isFirst || hasDot) {
      const name = read(NAME);
      if (name) {
        steps.push({ kind: 'name', name: name[0] });
        continue;
      }
      if (hasDot) return null;
    }
    const step = readBrackets(read);
    if (!step) return null;
    steps.push(step);
  }
  return steps.length > 0 ? steps : null;
}

function readBrackets(read: (pattern: RegExp) => RegExpExecArray | null): WatchStep | null {
  const quoted = read(QUOTED)?.[1];
  if (quoted !== undefined) {
    const name = parseString(quoted);
    return name === null ? null : { kind: 'name', name };
  }
  const inside = read(ELEMENTS)?.[1];
  if (inside === undefined) return null;
  if (inside === '') return { kind: 'each' };
  if (inside.trim() !== inside) return null;
  if (!/^\d+$/.test(inside)) return { kind: 'keyed', key: inside };
  return inside.length > MAX_INDEX_DIGITS ? null : { kind: 'at', index: Number(inside) };
}

function parseString(text: string): string | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** As `parseWatchPath` reads it. */
export const formatName = (name: string, isFirst: boolean): string =>
  PLAIN_NAME.test(name) ? `${isFirst ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
