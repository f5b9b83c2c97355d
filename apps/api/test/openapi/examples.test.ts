import { compileValidator } from '@carillon/contract';
import type { TSchema } from '@sinclair/typebox';
import t, { type Test } from 'tap';
import { testContext } from '../support/context.ts';
import { readServedDocument } from '../support/contract/served-document.ts';

interface Media {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
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

// Files on disk add an operation.
const { app } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const document = await readServedDocument(app);
const schemas: Record<string, object> = document.components.schemas;
const operations = [...Object.entries(document.paths), ...Object.entries(document.webhooks)].flatMap(
  ([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
);

t.test('every request and response has an example that matches its schema', async (t) => {
  t.ok(operations.length > 70);
  for (const { name, operation } of operations) {
    const { requestBody, responses } = operation;
    const places = [
      ...Object.entries(requestBody?.content ?? {}).map(([type, media]) => ({ where: type, media })),
      ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, media]) => ({ where: `${status} ${type}`, media })),
      ),
    ];
    for (const { where, media } of places) assertExample(t, `${name} ${where}`, media);
  }
});

t.test('every required parameter has an example, and every example matches its schema', async (t) => {
  for (const { name, operation } of operations) {
    for (const parameter of operation.parameters ?? []) {
      const where = `${name} ${parameter.in} ${parameter.name}`;
      if (parameter.required || parameter.example !== undefined) assertExample(t, where, parameter);
    }
  }
});

t.test('an example with an unknown field does not match', async (t) => {
  const found = document.paths['/api/tasks/{id}'].get.responses[200].content['application/json'];
  const { schema, example }: { schema: object; example: { task: object } } = found;
  const check = compileValidator(closed(schema));
  t.ok(check(example).ok);
  t.notOk(check({ ...example, task: { ...example.task, colour: 'red' } }).ok);
  t.notOk(check({ ...example, task: {} }).ok);
});

function assertExample(t: Test, where: string, { schema, example, examples }: Media) {
  const values = examples ? Object.values(examples).map(({ value }) => value) : [example];
  for (const value of values) {
    t.not(value, undefined, `${where} has an example`);
    const checked = compileValidator(closed(schema))(value);
    t.ok(checked.ok, `${where}: ${checked.ok ? '' : JSON.stringify(checked.details)}`);
  }
}

/** The schema with its references resolved, and without additional properties. */
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

/** `binary` is the only format without a validator. */
function isKnown(format: unknown): boolean {
  return format !== undefined && format !== 'binary';
}
