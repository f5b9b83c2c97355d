const MAX_RESTARTS = 8;

export type FoundJson = { ok: true; text: string; value: unknown } | { ok: false; problem: string };

/**
 * Reads an answer that is JSON, or that has one JSON object with prose or Markdown around it. Reads the text at most ten
 * times, whatever it is.
 */
export function findJson(answer: string): FoundJson {
  const whole = parse(answer.trim());
  if (whole) return { ok: true, ...whole };
  const objects = findSpans(answer)
    .map(parse)
    .filter((found) => found !== null)
    .filter(({ value }) => typeof value === 'object' && !Array.isArray(value));
  const [only, ...others] = objects;
  if (only === undefined) return { ok: false, problem: 'The answer is not JSON' };
  return others.length > 0 ? { ok: false, problem: 'The answer has more than one JSON object' } : { ok: true, ...only };
}

function parse(text: string): { text: string; value: unknown } | null {
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** The outermost parts in braces or brackets. An opening one without its end is taken for prose. */
function findSpans(text: string): string[] {
  const spans: string[] = [];
  let restarts = 0;
  for (let at = nextOpening(text, 0); at !== -1; ) {
    const end = findEnd(text, at);
    if (end === -1 && ++restarts > MAX_RESTARTS) break;
    if (end !== -1) spans.push(text.slice(at, end));
    at = nextOpening(text, end === -1 ? at + 1 : end);
  }
  return spans;
}

function nextOpening(text: string, from: number): number {
  const found = /[{[]/g;
  found.lastIndex = from;
  return found.exec(text)?.index ?? -1;
}

/** The index after the brace or bracket that closes the one at `start`; -1 without one. */
function findEnd(text: string, start: number): number {
  const marks = /["{}[\]]|\\./gs;
  marks.lastIndex = start;
  let depth = 0;
  let isInString = false;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const [found] = mark;
    if (found === '"') isInString = !isInString;
    if (isInString || found === '"' || found.startsWith('\\')) continue;
    depth += found === '{' || found === '[' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return -1;
}
