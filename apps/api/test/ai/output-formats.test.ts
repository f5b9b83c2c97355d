import { compileSchema } from '@carillon/json-schema/compile';
import t from 'tap';
import { fitsStrictMode, toClosedSchema } from '../../src/lib/ai/models/provider-schemas.ts';
import { buildSample } from '../../src/lib/ai/models/sample.ts';
import { buildAiRequest, createTestAi, startTestAi } from '../support/ai-client.ts';

const strict = (properties: object, more = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

t.test("OpenAI's strict mode is asked for if the schema is one of it", async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: '{}' }));
  const outputSchema = strict({ price: { type: 'number' } });
  await ask({ outputSchema });
  const json_schema = { name: 'output', strict: true, schema: outputSchema };
  t.strictSame(server.requests[0]?.body.response_format, { type: 'json_schema', json_schema });
});

t.test('Strict mode takes closed objects that require all of their properties', async (t) => {
  const item = strict({ name: { type: ['string', 'null'] } });
  for (const [schema, fits] of [
    [strict({}), true],
    [strict({ list: { type: 'array', items: item } }), true],
    [strict({ item: { $ref: '#/$defs/item' } }, { $defs: { item } }), true],
    [strict({ item: { anyOf: [item, { type: 'null' }] } }), true],
    [{ ...strict({ a: {} }), required: [] }, false],
    [{ ...strict({ a: {} }), additionalProperties: true }, false],
    [strict({ list: { type: 'array', items: { type: 'object', properties: {} } } }), false],
    [strict({ a: {} }, { allOf: [{}] }), false],
    [strict({ a: { oneOf: [{}] } }), false],
    [strict({ a: true }), false],
  ] as const) {
    t.equal(fitsStrictMode(schema), fits, JSON.stringify(schema));
  }
});

t.test('A closed schema allows nothing that the schema forbids, unless the provider cannot say it', async (t) => {
  t.strictSame(toClosedSchema(strict({ a: { type: 'string', minLength: 3, description: 'A' } })), {
    ...strict({ a: { type: 'string', description: 'A' } }),
  });
  t.strictSame(
    toClosedSchema({ type: 'object', properties: { a: { oneOf: [{ type: 'string' }, { type: 'null' }] } } }),
    {
      type: 'object',
      properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      additionalProperties: false,
    },
  );
  for (const schema of [
    { type: 'object' },
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', patternProperties: { a: {} } },
    { type: 'object', properties: { a: {} }, allOf: [{ properties: { b: {} } }] },
    { type: 'object', properties: { a: true } },
    { type: 'object', properties: { a: { type: 'object' } } },
  ]) {
    t.equal(toClosedSchema(schema), null, JSON.stringify(schema));
  }
});

t.test('The offline model answers with a sample that matches simple schemas', async (t) => {
  for (const schema of [
    { type: 'object' },
    strict({
      title: { type: 'string' },
      price: { type: 'number', minimum: 3 },
      sold: { type: 'boolean' },
      none: { type: 'null' },
    }),
    strict({ short: { type: 'string', maxLength: 5 }, long: { type: 'string', minLength: 100 } }),
    strict({ kind: { enum: ['a', 'b'] }, fixed: { const: [1] }, date: { type: 'string', format: 'date' } }),
    strict({ list: { type: 'array', items: strict({ id: { type: 'integer' } }), minItems: 2 } }),
    strict({ step: { type: 'number', multipleOf: 5, exclusiveMinimum: 10 }, top: { maximum: -1, type: 'integer' } }),
    strict({ node: { $ref: '#/$defs/node' } }, { $defs: { node: strict({ name: { type: 'string' } }) } }),
    strict({
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      pair: { type: 'array', prefixItems: [{ type: 'string' }] },
    }),
    { type: 'object', allOf: [{ properties: { a: { type: 'integer' } }, required: ['a'] }], required: ['b'] },
    { type: 'object', properties: { next: { $ref: '#' } } },
  ]) {
    const outcome = await createTestAi(t).ask(buildAiRequest({ outputSchema: schema }));
    t.ok(outcome.ok);
    const value = outcome.ok ? JSON.parse(outcome.text) : null;
    t.strictSame(compileSchema(schema, 'schema').check(value).problems, [], JSON.stringify({ schema, value }));
    t.strictSame(buildSample(schema), value, 'it is the same each time');
  }
  const { title } = buildSample(strict({ title: { type: 'string' } })) as { title: string };
  t.match(title, /offline model/);
});
