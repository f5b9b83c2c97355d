/** So many parts are tried, however many the text has. */
const MAX_SPANS = 50;
const MAX_UNCLOSED = 5;

export type FoundJson = { ok: true; text: string; value: unknown } | { ok: false; problem: string };

/**
 * Reads an answer that is JSON, or that has one JSON object with prose or Markdown around it. Reads the text a few
 * times only, whatever it is.
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
  let at = nextOpening(text, 0);
  for (let unclosed = 0; at !== -1 && unclosed < MAX_UNCLOSED && spans.length < MAX_SPANS; ) {
    const end = findEnd(text, at);
    if (end === -1) unclosed += 1;
    else spans.push(text.slice(at, end));
    at = nextOpening(text, end === -1 ? at + 1 : end);
  }
  return spans;
}

function nextOpening(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (isOpening(text.charCodeAt(at))) return at;
  return -1;
}

/** The index after the brace or bracket that closes the one at `start`; -1 without one. */
function findEnd(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) isInString = !isInString;
    else if (isInString) continue;
    else if (isOpening(code)) depth += 1;
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return -1;
}

const [QUOTE, BACKSLASH, CLOSING_BRACE, CLOSING_BRACKET] = [0x22, 0x5c, 0x7d, 0x5d];
const isOpening = (code: number) => code === 0x7b || code === 0x5b;
