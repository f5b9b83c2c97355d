interface ReadSchema {
  value: Record<string, unknown> | null;
  problem: string | null;
}

/** Parses a schema that is typed as JSON; an empty text means no schema. The API validates the schema itself. */
export function readSchema(text: string): ReadSchema {
  if (text.trim() === '') return { value: null, problem: null };
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) return { value: null, problem: 'The schema must be a JSON object, such as {"type": "object"}' };
    return { value: value as Record<string, unknown>, problem: null };
  } catch (error) {
    return { value: null, problem: `The schema is not JSON${describePlace(text, error)}` };
  }
}

/** Messages of the parser repeat the text, so only its position is taken over. */
function describePlace(text: string, error: unknown): string {
  const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  if (position === undefined) return ': it ends too early, or something stands where nothing may';
  const before = text.slice(0, Number(position)).split('\n');
  return `: look at line ${before.length}, character ${(before.at(-1)?.length ?? 0) + 1}`;
}
