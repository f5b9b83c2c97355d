import { FileTask } from '@carillon/contract/tasks/files';

/** The JSON Schema of a file: an object is a line of JSONL, a list is a file in YAML. */
export const buildFileSchema = (baseUrl: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: `${baseUrl}/schemas/task.json`,
  title: 'Tasks of Carillon',
  ...(toPublic(FileTask) as object),
  type: ['object', 'array'],
  items: { type: 'object', $ref: '#' },
});

/** Without the keywords and formats that only this service knows. */
function toPublic(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toPublic);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) => {
      if (name.startsWith('x-') || (name === 'format' && !PUBLIC_FORMATS.includes(value))) return [];
      return [[name, toPublic(value)]];
    }),
  );
}

const PUBLIC_FORMATS = ['date-time', 'email', 'uuid'];
