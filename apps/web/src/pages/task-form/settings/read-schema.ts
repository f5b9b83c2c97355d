import type { Texts } from '@carillon/texts';

interface ReadSchema {
  value: Record<string, unknown> | null;
  problem: string | null;
}

/** Parses a schema that is typed as JSON; an empty text means no schema. The API validates the schema itself. */
export function readSchema(text: string, { taskForm }: Texts): ReadSchema {
  if (text.trim() === '') return { value: null, problem: null };
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) return { value: null, problem: taskForm.schemaNotObject };
    return { value: value as Record<string, unknown>, problem: null };
  } catch (error) {
    return { value: null, problem: describeSyntaxError(text, error, taskForm) };
  }
}

/** Messages of the parser repeat the text, so only its position is taken over. */
function describeSyntaxError(text: string, error: unknown, taskForm: Texts['taskForm']): string {
  const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  if (position === undefined) return taskForm.invalidJson;
  const before = text.slice(0, Number(position)).split('\n');
  return taskForm.invalidJsonAt(before.length, (before.at(-1)?.length ?? 0) + 1);
}
