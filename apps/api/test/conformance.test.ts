import t from 'tap';
import { testContext } from './support/context.ts';
import { explainMismatch, listRoutes } from './support/contract/conformance.ts';
import { listOperations } from './support/contract/operations.ts';

// Files are served where they are on disk only.
const { app } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const operations = await listOperations();
const routes = listRoutes(app).filter(({ method, schema }) => {
  return method !== 'HEAD' && method !== 'OPTIONS' && !(schema as { hide?: boolean } | undefined)?.hide;
});
const idOf = (schema: unknown) => (schema as { operationId?: string } | undefined)?.operationId;

t.test('every route is an operation of the contract, with a summary and its errors', async (t) => {
  t.ok(routes.length > 10);
  for (const { method, url, schema } of routes) {
    const operation = operations.get(idOf(schema) ?? '');
    if (!t.ok(operation, `${method} ${url} is in the contract`)) continue;
    t.equal(schema, operation, `${url} keeps to it`);
    t.match(operation?.summary, /^\S.{3,80}$/);
    const statuses = Object.keys(operation?.response ?? {}).map(Number);
    t.ok(
      statuses.some((status) => status < 400),
      `${url} has a success`,
    );
    for (const status of [400, 500, 503]) t.ok(statuses.includes(status), `${url} can answer ${status}`);
    if (operation?.security.length) t.ok(statuses.includes(401), `${url} asks who calls`);
  }
});

t.test('every operation of the contract has one route', async (t) => {
  const served = routes.map(({ schema }) => idOf(schema));
  t.same(served.toSorted(), [...operations.keys()].toSorted());
});

t.test('An answer that differs from the contract is reported', async (t) => {
  const getTask = operations.get('getTask');
  if (!getTask) return t.fail('there is no getTask');
  t.match(explainMismatch(getTask, 418, '{}'), /getTask does not declare the status 418/);
  t.match(explainMismatch(getTask, 200, '{"success":true}'), /"task":\["is required"\]/);
  t.match(explainMismatch(getTask, 200, '{"success":true,"task":{"id":"1"}}'), /"task.id":\["must be an integer"\]/);
  t.match(explainMismatch(getTask, 404, '{"error":"Not found"}'), /"success":\["is required"\]/);
  t.match(explainMismatch(getTask, 404, '{"success":false}'), /"error":\["is required"\]/);
  t.equal(explainMismatch(getTask, 404, '{"success":false,"error":"Not found"}'), null);
});
