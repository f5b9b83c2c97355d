import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { type Replication, startReplication } from '../../../../packages/db/test/replication.ts';
import { scrape } from '../support/metrics/scrape.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { until } from '../support/until.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { ask, JWT_SECRET, signInAll } from './clients.ts';
import { insertPeople } from './due-tasks.ts';

t.setTimeout(300_000);

const TASK = {
  name: 'Moons',
  prompt: 'Name a moon of Saturn.',
  recurrence: 'once',
  scheduledFor: '2099-01-01T08:00:00Z',
  timezone: 'UTC',
};
const WEBHOOK = { url: 'https://hooks.example.com/carillon', events: ['task.created'] };

interface Row {
  id: number | string;
  name?: string;
  status?: string;
  isActive?: boolean;
}

/** A user with a session or an API key, whose requests go to one process. */
interface Client {
  send(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  /** The rows of a list. */
  list(path: string, name: string): Promise<Row[]>;
}

function createClient(t: Test, { url }: ApiProcess, authorization: string): Client {
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization, ...(body && { 'content-type': 'application/json' }) };
    const answer = await ask(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (answer.status >= 400 || answer.status < 0) t.fail(`${method} ${path}: ${answer.status}`, answer.body);
    return answer.body;
  };
  return { send, list: async (path, name) => (await send('GET', path))[name] as Row[] };
}

interface Options {
  maxLagMs?: number;
  processes?: number;
}

/** API processes that read from a standby, and the first two users. */
async function startReading(t: Test, { maxLagMs = 3_600_000, processes = 1 }: Options = {}) {
  const replication = await startReplication(t);
  const ai = await startAiServer({ record: false });
  t.teardown(ai.close);
  const env = {
    DATABASE_READ_URL: replication.standby.url,
    DATABASE_READ_MAX_LAG_MS: String(maxLagMs),
    JWT_SECRET,
    METRICS_PORT: '0',
    RATE_LIMIT_MULTIPLIER: '1000',
  };
  const settings = { databaseUrl: replication.url, aiUrl: ai.url, env };
  const apis = await Promise.all(Array.from({ length: processes }, () => startApiProcess(t, settings)));
  const tokens = await signInAll(replication.db, await insertPeople(replication.db, 2));
  const messages = ['a standby answers reads', 'started'];
  await until(() => apis.every((api) => messages.every((msg) => countLines(api, msg) > 0)));
  const [first] = apis as [ApiProcess];
  const [alice, bob] = tokens.map((token) => createClient(t, first, `Bearer ${token}`)) as [Client, Client];
  return { replication, apis, tokens, alice, bob };
}

const countLines = ({ log }: ApiProcess, msg: string) => log.filter((line) => line.msg === msg).length;

async function readMetrics({ log }: ApiProcess) {
  const line = log.find(({ msg }) => msg === 'metrics');
  return scrape(String(line?.url));
}

async function countAnswered(api: ApiProcess): Promise<number> {
  return (await readMetrics(api)).value('carillon_replica_statements_total', { outcome: 'answered' }) ?? 0;
}

/** Changes tasks as no request does: only a reader of the primary sees it while replay is paused. */
const renameAll = ({ db }: Replication, name: string) => db.execute(sql`update tasks set name = ${name}`);

const namesOf = (rows: readonly Row[]) => rows.map(({ name }) => name);

t.test('Users see their own changes at once, through any process and with any credentials', async (t) => {
  const { replication, apis, tokens, alice, bob } = await startReading(t, { processes: 2 });
  const { standby, db } = replication;
  const [, second] = apis as [ApiProcess, ApiProcess];
  const created = await alice.send('POST', '/api/keys', {
    name: 'A program',
    scopes: [
      'tasks:read',
      'tasks:write',
      'executions:read',
      'executions:run',
      'webhooks:read',
      'webhooks:write',
      'events:read',
    ],
  });
  const withKey = createClient(t, second, `Bearer ${created.secret}`);
  const elsewhere = createClient(t, second, `Bearer ${tokens[0]}`);
  const bobElsewhere = createClient(t, second, `Bearer ${tokens[1]}`);
  await bob.send('POST', '/api/agent/create-task', TASK);
  await standby.catchUp();

  await standby.pause();
  await renameAll(replication, 'Renamed at the primary');
  for (const client of [bob, bobElsewhere]) {
    t.same(namesOf(await client.list('/api/tasks', 'tasks')), ['Moons'], 'others read the standby, which is behind');
  }
  t.ok((await countAnswered(second)) > 0);

  // Each change is made by one of them, and seen by all.
  const clients = [alice, withKey, elsewhere];
  let turn = 0;
  const next = () => clients[turn++ % clients.length] as Client;
  const everywhere = async (what: string, path: string, name: string, expected: (rows: Row[]) => unknown) => {
    const pages = [path, `${path}${path.includes('?') ? '&' : '?'}limit=7`];
    const asked = clients.flatMap((client, n) => pages.map((page) => ({ client, n, page })));
    // At once, so that their callers are found together, with another user's among them.
    const [, ...lists] = await Promise.all([
      bobElsewhere.list('/api/tasks', 'tasks'),
      ...asked.map(({ client, page }) => client.list(page, name)),
    ]);
    for (const [at, rows] of lists.entries())
      t.ok(expected(rows), `${what}: ${asked[at]?.page} of client ${asked[at]?.n}`);
  };
  const { taskId } = await next().send('POST', '/api/agent/create-task', TASK);
  await everywhere('a new task', '/api/tasks', 'tasks', (rows) => rows.some(({ id }) => id === taskId));
  await everywhere('its events', '/api/events', 'events', (rows) => rows.length > 0);
  for (const name of ['Moons of Saturn', 'Moons of Mars', 'Moons of Jupiter']) {
    await next().send('PATCH', `/api/tasks/${taskId}`, { name });
    await everywhere('a changed task', '/api/tasks', 'tasks', (rows) => rows[0]?.name === name);
    await everywhere('a search', '/api/tasks?search=oons', 'tasks', (rows) => rows[0]?.name === name);
  }
  for (let n = 1; n <= 3; n++) {
    await next().send('POST', `/api/tasks/${taskId}/execute`);
    await everywhere('a run', '/api/executions', 'executions', (rows) => rows.length === n);
    const isDone = async () =>
      (await queryRows(db, sql`select from executions where status <> 'completed'`)).length === 0;
    await until(isDone);
    await everywhere('what a run became', '/api/executions', 'executions', (rows) => rows[0]?.status === 'completed');
  }
  const { webhook } = (await next().send('POST', '/api/webhooks', WEBHOOK)) as { webhook: Row };
  await everywhere('a webhook', '/api/webhooks', 'webhooks', (rows) => rows[0]?.id === webhook.id);
  await next().send('PATCH', `/api/webhooks/${webhook.id}`, { isActive: false });
  await everywhere('a changed webhook', '/api/webhooks', 'webhooks', (rows) => rows[0]?.isActive === false);
  await next().send('DELETE', `/api/webhooks/${webhook.id}`);
  await everywhere('a deleted webhook', '/api/webhooks', 'webhooks', (rows) => rows.length === 0);
  await next().send('DELETE', `/api/tasks/${taskId}`);
  await everywhere('a deleted task', '/api/tasks', 'tasks', (rows) => rows.length === 0);
  await everywhere('and its runs', '/api/executions', 'executions', (rows) => rows.length === 0);

  t.same(namesOf(await bob.list('/api/tasks', 'tasks')), ['Moons'], 'the standby is still behind');
  await standby.resume();
  await standby.catchUp();
  const before = await countAnswered(second);
  await until(async () => {
    t.same(await withKey.list('/api/tasks', 'tasks'), []);
    return (await countAnswered(second)) > before;
  });
});

t.test('While the standby is away, and killed during requests, the primary answers', async (t) => {
  const { replication, apis, alice } = await startReading(t);
  const { standby } = replication;
  const [api] = apis as [ApiProcess];
  await alice.send('POST', '/api/agent/create-task', TASK);
  await standby.catchUp();
  let isAsking = true;
  let asked = 0;
  const askOn = async () => {
    for (; isAsking; asked++) t.same(namesOf(await alice.list('/api/tasks', 'tasks')), ['Moons']);
  };
  const asking = Promise.all(Array.from({ length: 8 }, askOn));
  await until(() => asked > 50);
  standby.signal('SIGKILL');
  await until(() => countLines(api, 'a standby is away: others answer its reads') > 0);
  await standby.stop();
  const count = asked;
  await until(() => asked > count + 50);
  t.equal((await ask(`${api.url}/api/health/ready`)).status, 200);
  t.equal((await readMetrics(api)).value('carillon_replica_ready'), 0);
  await standby.start();
  await until(async () => (await readMetrics(api)).value('carillon_replica_ready') === 1);
  isAsking = false;
  await asking;
});

t.test('Beyond the maximum lag the primary answers, and the lag is measured', async (t) => {
  const { replication, apis, alice, bob } = await startReading(t, { maxLagMs: 500 });
  const { standby } = replication;
  const [api] = apis as [ApiProcess];
  await alice.send('POST', '/api/agent/create-task', TASK);
  await standby.catchUp();
  await standby.pause();
  await renameAll(replication, 'Renamed at the primary');
  // Another user's change, after which there is something to be behind of.
  await bob.send('POST', '/api/agent/create-task', TASK);
  await until(() => countLines(api, 'a standby is too far behind: others answer its reads') === 1);
  t.same(namesOf(await alice.list('/api/tasks', 'tasks')), ['Renamed at the primary']);
  const metrics = await readMetrics(api);
  t.ok((metrics.value('carillon_replica_lag_seconds') ?? 0) > 0.5);
  t.equal(metrics.value('carillon_replica_ready'), 0);
  await standby.resume();
  await until(async () => (await readMetrics(api)).value('carillon_replica_ready') === 1);
  await until(() => countLines(api, 'a standby answers reads') === 2);
});
