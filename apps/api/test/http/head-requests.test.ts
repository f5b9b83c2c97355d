import t from 'tap';
import { CRON_SECRET, testContext } from '../support/context.ts';
import { listRoutes } from '../support/contract/conformance.ts';
import { signUpAda } from '../support/people.ts';
import { insertTask } from '../support/task-rows.ts';

const { ctx, app } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });
const ada = await signUpAda(app);
const isCron = (url: string) => url === '/api/cron/scheduler';
const urls = listRoutes(app).flatMap(({ method, url }) => (method === 'GET' ? [url] : []));

t.test('HEAD answers wherever GET does, with its status and headers and without a body', async (t) => {
  const id = await insertTask(ctx, ada.id);
  let succeeded = 0;
  for (const pattern of urls) {
    const url = pattern.replace(':id', String(id)).replace(/:\w+/g, 'x');
    const headers = {
      ...ada.headers,
      ...(isCron(url) && { authorization: `Bearer ${CRON_SECRET}`, prefer: 'respond-async' }),
    };
    const head = await app.inject({ method: 'HEAD', url, headers });
    const get = await app.inject({ method: 'GET', url, headers });
    t.equal(head.statusCode, get.statusCode, url);
    t.equal(head.body, '');
    succeeded += get.statusCode === 200 ? 1 : 0;
    if (isCron(url)) continue;
    for (const name of ['content-type', 'content-length', 'etag', 'location', 'cache-control']) {
      t.equal(head.headers[name], get.headers[name], `${name} of ${url}`);
    }
  }
  t.ok(succeeded > 25, `${succeeded} answer with a success`);
});

t.test('HEAD at the trigger of the scheduler needs the secret and runs nothing', async (t) => {
  const id = await insertTask(ctx, ada.id);
  const nextRun = async () => (await app.inject({ url: `/api/tasks/${id}`, headers: ada.headers })).json().task;
  const before = await nextRun();
  const head = (authorization: string) =>
    app.inject({ method: 'HEAD', url: '/api/cron/scheduler', headers: { authorization } });
  t.equal((await head('Bearer wrong')).statusCode, 401);
  t.equal((await head(`Bearer ${CRON_SECRET}`)).statusCode, 200);
  t.same(await nextRun(), before);
});

t.test('HEAD needs the session that GET needs, and counts for the same rate limit', async (t) => {
  t.equal((await app.inject({ method: 'HEAD', url: '/api/tasks' })).statusCode, 401);
  const remaining = async (method: 'GET' | 'HEAD') => {
    const { headers } = await app.inject({ method, url: '/api/tasks', headers: ada.headers });
    return Number(headers['x-ratelimit-remaining']);
  };
  const first = await remaining('GET');
  t.equal(await remaining('HEAD'), first - 1);
  t.equal(await remaining('GET'), first - 2);
});

t.test('The OpenAPI document describes no HEAD', async (t) => {
  const { paths } = (await app.inject('/openapi.json')).json();
  t.same(
    Object.values<object>(paths).filter((methods) => 'head' in methods),
    [],
  );
});
