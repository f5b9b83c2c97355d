import { compileQueryValidator, compileValidator, NAMED_SCHEMAS, type Operation } from '@carillon/contract';
import type { TSchema } from '@sinclair/typebox';
import t from 'tap';
import { buildSerializer } from '../../src/platform/http/validation.ts';
import { listOperations } from '../support/contract/operations.ts';

/** Compiles the schemas of an operation as the service does at its first call; throws for one that does not compile. */
function use({ consumes, body, params, querystring, headers, response }: Operation): void {
  if (body && !consumes) compileValidator(body)({});
  for (const texts of [params, querystring, headers]) if (texts) compileQueryValidator(texts)({});
  for (const schema of Object.values(response)) buildSerializer(schema);
}

const operations = await listOperations();

t.test('The schemas of every operation compile, and are not modified', async (t) => {
  const before = JSON.stringify([...operations.values(), ...NAMED_SCHEMAS]);
  for (const [id, operation] of operations) t.doesNotThrow(() => use(operation), id);
  t.equal(JSON.stringify([...operations.values(), ...NAMED_SCHEMAS]), before);
});

t.test('Every list cuts a limit above its maximum, and rejects one that is no positive integer', async (t) => {
  const queries = [...operations].map(([id, { querystring = {} as TSchema }]) => [id, querystring] as const);
  const lists = queries.filter(([, { properties }]) => properties?.limit);
  t.ok(lists.length > 10);
  for (const [id, query] of lists) {
    const check = compileQueryValidator(query);
    const { maximum, 'x-cap': cap } = query.properties.limit;
    t.strictSame([maximum, cap >= 100], [undefined, true], id);
    const { ok: _, ...cut } = check({ limit: String(cap + 1) });
    t.match('value' in cut ? cut.value : cut, { limit: cap }, id);
    for (const limit of ['0', '-1', '1.5', 'x', '']) t.match(check({ limit }), { details: { limit: [String] } }, id);
  }
});

t.test('A schema that does not compile is found', async (t) => {
  const good = { operationId: 'x', summary: '', tags: [], security: [], response: {} };
  t.throws(() => use({ ...good, body: { type: 'string', minimum: 1 } as never }), 'a word that is for numbers');
  t.throws(() => use({ ...good, querystring: { type: 'object', properties: { at: { format: 'no-such' } } } as never }));
  t.throws(() => use({ ...good, response: { 200: { type: 'object', properties: { a: { $ref: 'No#' } } } as never } }));
});
