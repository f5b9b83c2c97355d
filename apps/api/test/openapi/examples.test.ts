import { compileValidator } from '@carillon/contract';
import type { TSchema } from '@sinclair/typebox';
import t, { type Test } from 'tap';
import { testContext } from '../support/context.ts';

interface Media {
  schema: object;
  example?: unknown;
}
interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: object;
  example?: unknown;
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

// With files on disk there is one operation more.
const { app } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const document = (await app.inject('/api/docs/json')).json();
const schemas: Record<string, object> = document.components.schemas;
const operations = [...Object.entries(document.paths), ...Object.entries(document.webhooks)].flatMap(
  ([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
);

t.test('every request, answer and refusal has an example, which its schema takes', async (t) => {
  t.ok(operations.length > 70);
  for (const { name, operation } of operations) {
    const { requestBody, responses } = operation;
    const places = [
      ...Object.entries(requestBody?.content ?? {}).map(([type, media]) => ({ where: type, media })),
      ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, media]) => ({ where: `${status} ${type}`, media })),
      ),
    ];
    for (const { where, media } of places) holds(t, `${name} ${where}`, media);
  }
});

t.test('every parameter has an example, which its schema takes, and those that must be given are in it', async (t) => {
  for (const { name, operation } of operations) {
    for (const parameter of operation.parameters ?? []) {
      const where = `${name} ${parameter.in} ${parameter.name}`;
      if (parameter.required || parameter.example !== undefined) holds(t, where, parameter);
    }
  }
});

t.test('an example with a field that the schema does not name would be found', async (t) => {
  const found = document.paths['/api/tasks/{id}'].get.responses[200].content['application/json'];
  const { schema, example }: { schema: object; example: { task: object } } = found;
  const check = compileValidator(closed(schema));
  t.ok(check(example).ok);
  t.notOk(check({ ...example, task: { ...example.task, colour: 'red' } }).ok);
  t.notOk(check({ ...example, task: {} }).ok);
});

function holds(t: Test, where: string, { schema, example }: Media) {
  t.not(example, undefined, `${where} has an example`);
  const checked = compileValidator(closed(schema))(example);
  t.ok(checked.ok, `${where}: ${checked.ok ? '' : JSON.stringify(checked.details)}`);
}

/** The schema with what it refers to in place, where no object has fields that it does not name. */
function closed(schema: object): TSchema {
  const read = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(read);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, format, ...rest } = value as Record<string, unknown>;
    if (typeof $ref === 'string') return read(schemas[$ref.split('/').at(-1) ?? ''] ?? t.fail($ref));
    const object = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, read(inner)]));
    const isOpen = 'properties' in rest && !('additionalProperties' in rest);
    return { ...object, ...(isOpen ? { additionalProperties: false } : {}), ...(isKnown(format) ? { format } : {}) };
  };
  return read(schema) as TSchema;
}

/** The one format that is for readers alone is `binary`. */
function isKnown(format: unknown): boolean {
  return format !== undefined && format !== 'binary';
}
