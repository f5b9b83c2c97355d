import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUpAlice, signUpBob } from '../support/people.ts';
import { patchTask, postTask, readTask, TASK } from '../support/tasks.ts';

const { app } = await testContext(t);
const alice = await signUpAlice(app);

const SCHEMA = { type: 'object', required: ['b', 'a'], properties: { b: { type: 'number' }, a: { type: 'string' } } };

const create = (outputSchema: unknown) =>
  app.inject({
    method: 'POST',
    url: '/api/agent/create-task',
    headers: alice.headers,
    payload: { ...TASK, outputSchema },
  });

/** The fields that a refused request names. */
async function findRefused(outputSchema: unknown) {
  const answer = await create(outputSchema);
  return answer.statusCode === 400 ? Object.keys(answer.json().details) : answer.statusCode;
}

t.test('A schema is stored as it was given, changed and removed', async (t) => {
  const id = await postTask(app, alice, { outputSchema: SCHEMA });
  t.equal(JSON.stringify((await readTask(app, alice, id)).outputSchema), JSON.stringify(SCHEMA));
  const other = { type: 'object' };
  t.equal((await patchTask(app, alice, id, { outputSchema: other })).statusCode, 200);
  t.strictSame((await readTask(app, alice, id)).outputSchema, other);
  t.equal((await patchTask(app, alice, id, { name: 'Same schema' })).statusCode, 200);
  t.strictSame((await readTask(app, alice, id)).outputSchema, other);
  t.equal((await patchTask(app, alice, id, { outputSchema: null })).statusCode, 200);
  t.equal((await readTask(app, alice, id)).outputSchema, null);
});

t.test('A schema that cannot be compiled is refused at its place', async (t) => {
  for (const [schema, field] of [
    ['{}', 'outputSchema'],
    [[], 'outputSchema'],
    [{}, 'outputSchema.type'],
    [{ type: 'array' }, 'outputSchema.type'],
    [{ type: ['object'] }, 'outputSchema.type'],
    [{ type: 'object', properties: { price: { type: 'text' } } }, 'outputSchema.properties.price.type'],
    [{ type: 'object', properties: { price: { pattern: '(?=1)' } } }, 'outputSchema.properties.price.pattern'],
    [{ type: 'object', $ref: 'https://example.com/schema' }, 'outputSchema.$ref'],
    [{ type: 'object', $schema: 'https://json-schema.org/draft/2019-09/schema' }, 'outputSchema.$schema'],
    [{ type: 'object', anyOf: [{ $ref: '#' }] }, 'outputSchema'],
    [{ type: 'object', description: 'a\0' }, 'outputSchema.description'],
  ] as const) {
    t.strictSame(await findRefused(schema), [field], JSON.stringify(schema));
  }
});

t.test('A schema has at most 16 KiB as JSON, in UTF-8', async (t) => {
  const build = (bytes: number) => {
    const empty = JSON.stringify({ type: 'object', description: '' }).length;
    return { type: 'object', description: `é${'x'.repeat(bytes - empty - 2)}` };
  };
  t.equal(Buffer.byteLength(JSON.stringify(build(16_384))), 16_384);
  t.equal(await findRefused(build(16_384)), 201);
  t.strictSame(await findRefused(build(16_385)), ['outputSchema']);
  const values = Array.from({ length: 10_000 }, (_, index) => index);
  t.strictSame(await findRefused({ type: 'object', properties: { a: { enum: values } } }), [
    'outputSchema.properties.a.enum',
  ]);
});

t.test('A schema has at most ten levels', async (t) => {
  const nest = (levels: number): object =>
    levels === 1 ? { type: 'object' } : { type: 'object', properties: { a: nest(levels - 1) } };
  t.equal(await findRefused(nest(10)), 201);
  t.strictSame(await findRefused(nest(11)), [
    'outputSchema.properties.a.properties.a.properties.a.properties.a.properties.a.properties.a.properties.a.properties.a.properties.a.properties.a',
  ]);
});

t.test('A change that is refused leaves the schema, and a stranger sees none', async (t) => {
  const id = await postTask(app, alice, { outputSchema: SCHEMA });
  const refused = await patchTask(app, alice, id, { outputSchema: { type: 'object', minProperties: -1 } });
  t.equal(refused.statusCode, 400);
  t.strictSame((await readTask(app, alice, id)).outputSchema, SCHEMA);
  const bob = await signUpBob(app);
  t.equal((await patchTask(app, bob, id, { outputSchema: null })).statusCode, 404);
  t.strictSame((await readTask(app, alice, id)).outputSchema, SCHEMA);
});

t.test('A copy of a task has its schema', async (t) => {
  const id = await postTask(app, alice, { outputSchema: SCHEMA });
  const { headers } = alice;
  const copied = await app.inject({ method: 'POST', url: `/api/tasks/${id}/duplicate`, headers, payload: {} });
  t.strictSame(
    copied.json().task?.outputSchema ?? (await readTask(app, alice, copied.json().taskId)).outputSchema,
    SCHEMA,
  );
});
