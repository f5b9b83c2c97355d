/** What a field of an answer may be, as JSON Schema says it. */
const KINDS = {
  text: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  list: { type: 'array', items: { type: 'string' } },
} as const;

export type FieldKind = keyof typeof KINDS;
export const FIELD_KINDS = Object.keys(KINDS) as FieldKind[];

export interface AnswerField {
  name: string;
  kind: FieldKind;
}

type Schema = Record<string, unknown>;

/** The field of an answer that is a number. */
const NUMBER: AnswerField = { name: 'value', kind: 'number' };

export const ANSWER_FORMS = ['text', 'number', 'fields', 'schema'] as const;
export type AnswerForm = (typeof ANSWER_FORMS)[number];

/** The schema of an object with these fields, all of which an answer has. */
export const buildSchema = (fields: readonly AnswerField[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(fields.map(({ name, kind }) => [name, KINDS[kind]])),
  required: fields.map(({ name }) => name),
});

export const NUMBER_SCHEMA = buildSchema([NUMBER]);

/** The form and the fields that a schema says; `schema` for one that says more. */
export function readAnswerForm(schema: Schema | null): { form: AnswerForm; fields: AnswerField[] } {
  if (schema === null) return { form: 'text', fields: [] };
  const fields = readFields(schema);
  if (fields === null) return { form: 'schema', fields: [] };
  const isNumber = fields.length === 1 && fields[0]?.name === NUMBER.name && fields[0].kind === NUMBER.kind;
  return isNumber ? { form: 'number', fields: [] } : { form: 'fields', fields };
}

function readFields(schema: Schema): AnswerField[] | null {
  const { type, properties, required, ...others } = schema;
  const isPlain = type === 'object' && Object.keys(others).length === 0 && Array.isArray(required);
  if (!isPlain || typeof properties !== 'object' || properties === null || required.length === 0) return null;
  if (required.length !== Object.keys(properties).length) return null;
  const fields = required.map((name: unknown) => {
    const property = typeof name === 'string' && Object.hasOwn(properties, name) ? (properties as Schema)[name] : null;
    const kind = FIELD_KINDS.find((one) => isSame(KINDS[one], property));
    return kind && { name: String(name), kind };
  });
  return fields.every((field) => field !== undefined) ? fields : null;
}

const isSame = (kind: object, property: unknown): boolean =>
  typeof property === 'object' &&
  property !== null &&
  JSON.stringify(Object.entries(kind).sort()) === JSON.stringify(Object.entries(property).sort());
