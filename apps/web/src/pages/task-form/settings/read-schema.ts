import type { Texts } from '@carillon/texts';
import { buildSchema, FIELD_KINDS, NUMBER_SCHEMA } from './answer-fields.ts';
import type { SettingsValues } from './settings-values.ts';

interface ReadSchema {
  value: Record<string, unknown> | null;
  problem: string | null;
}

/** The schema of the selected form of answers. `field`: where something is wrong. */
export function readAnswerSchema(
  { answerAs, fieldNames, fieldKinds, outputSchema }: SettingsValues,
  texts: Texts,
): ReadSchema & { field: 'outputSchema' | 'fieldName' | 'answerAs' } {
  const { taskForm } = texts;
  switch (answerAs) {
    case 'text':
      return { value: null, problem: null, field: 'answerAs' };
    case 'number':
      return { value: NUMBER_SCHEMA, problem: null, field: 'answerAs' };
    case 'schema':
      return { ...readSchema(outputSchema, texts), field: 'outputSchema' };
    case 'fields': {
      const fields = fieldNames
        .map((name, at) => ({ name, kind: FIELD_KINDS.find((kind) => kind === fieldKinds[at]) ?? 'text' }))
        .filter(({ name }) => name !== '');
      const isTwice = new Set(fields.map(({ name }) => name)).size < fields.length;
      const problem = fields.length === 0 ? taskForm.enterField : isTwice ? taskForm.fieldTwice : null;
      return { value: problem === null ? buildSchema(fields) : null, problem, field: 'fieldName' };
    }
    default:
      return { value: null, problem: taskForm.chooseAnswer, field: 'answerAs' };
  }
}

/** Parses a schema that is typed as JSON; an empty text means no schema. The API validates the schema itself. */
function readSchema(text: string, { taskForm }: Texts): ReadSchema {
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
