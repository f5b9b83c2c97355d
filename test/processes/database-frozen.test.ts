import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { CRON_SECRET } from '../../apps/api/test/support/context.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { ask, JWT_SECRET, signInAll } from './clients.ts';
import { insertPeople } from './due-tasks.ts';
import { ownPostgres } from './own-postgres.ts';

/** Every request is answered, and the service recovers, within this time. */
const MAX_ANSWER_MS = 5000;

t.setTimeout(180_000);

t.test('Every route that needs a frozen database answers 503 within 5 s, and none hangs', async (t) => {
  const postgres = await ownPostgres(t);
  const env = { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '1000' };
  const api = await startApiProcess(t, { databaseUrl: postgres.url, aiUrl: 'offline', env });
  // The first one signs out among the requests.
  const [token, other] = await signInAll(postgres.db, await insertPeople(postgres.db, 2));
  const routes = await findRoutes(api.url);
  t.ok(routes.length > 15, `${routes.length} routes`);
  await until(async () => (await ask(`${api.url}/api/health/ready`)).status === 200);
  const askAll = () => Promise.all(routes.map((route) => askRoute(api.url, route, token ?? '')));
  t.same(
    (await askAll()).filter(({ status }) => status === 503),
    [],
    'no route answers 503 before',
  );

  postgres.freeze();
  const frozenAt = performance.now();
  for (const round of ['at once', 'once its connections are known to be dead', 'later']) {
    const answers = await askAll();
    for (const { name, status, ms } of answers) {
      t.equal(status, 503, `${name} ${round}`);
      t.ok(ms < MAX_ANSWER_MS, `${name} took ${Math.round(ms)} ms ${round}`);
    }
    t.comment(`${round}: the last of ${answers.length} answered after ${slowest(answers)} ms`);
    for (const path of ['/api/health', '/api/health/live']) {
      const health = await ask(`${api.url}${path}`);
      t.match(health, { status: 200 });
      t.ok(health.ms < 1000, `${path} does not wait for it`);
    }
  }
  t.comment(`frozen for ${Math.round(performance.now() - frozenAt)} ms`);

  postgres.thaw();
  const backAt = performance.now();
  const user = { headers: { authorization: `Bearer ${other}` } };
  await until(async () => (await ask(`${api.url}/api/user`, user)).status === 200, 30_000);
  const resumedMs = Math.round(performance.now() - backAt);
  t.ok(resumedMs < MAX_ANSWER_MS, `it is in use again after ${resumedMs} ms`);
  t.same(
    (await askAll()).filter(({ status }) => status === 503),
    [],
    'every route',
  );
  t.ok(api.isAlive());
});

t.test('Requests outlast a freeze that is shorter than their deadline', async (t) => {
  const postgres = await ownPostgres(t);
  const api = await startApiProcess(t, { databaseUrl: postgres.url, aiUrl: 'offline', env: { JWT_SECRET } });
  const [token] = await signInAll(postgres.db, await insertPeople(postgres.db, 1));
  const user = { headers: { authorization: `Bearer ${token}` } };
  t.equal((await ask(`${api.url}/api/user`, user)).status, 200);
  postgres.freeze();
  const answers = Promise.all(Array.from({ length: 30 }, () => ask(`${api.url}/api/user`, user)));
  // The length of the freeze, within the deadline of 4 s.
  await delay(1500);
  postgres.thaw();
  for (const { status } of await answers) t.equal(status, 200);
});

interface Route {
  method: string;
  path: string;
}

/** Every route that needs the database. */
async function findRoutes(url: string): Promise<Route[]> {
  const { body } = await ask(`${url}/api/docs/json`);
  const paths = body.paths as Record<string, Record<string, unknown>>;
  return Object.entries(paths)
    .filter(([path]) => !['/api/health', '/api/health/live'].includes(path))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })));
}

async function askRoute(url: string, { method, path }: Route, token: string) {
  const isCron = path.startsWith('/api/cron');
  const headers: Record<string, string> = { authorization: `Bearer ${isCron ? CRON_SECRET : token}` };
  const body = ['POST', 'PATCH', 'DELETE'].includes(method) ? '{}' : undefined;
  if (body) headers['content-type'] = 'application/json';
  const answer = await ask(`${url}${path.replaceAll(/\{\w+\}/g, '1')}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body && { body }),
  });
  return { name: `${method} ${path}`, ...answer };
}

const slowest = (answers: { ms: number }[]) => Math.round(Math.max(...answers.map(({ ms }) => ms)));
