import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { ADMIN_KEY } from '../../apps/api/test/support/context.ts';
import { scrape } from '../../apps/api/test/support/metrics/scrape.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startReplication } from '../../packages/db/test/replication.ts';
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
/** A user with a session, whose requests go to one process. */
interface Client {
  send(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  countListed(): Promise<number>;
  /** All tasks, by the statistics of administrators. */
  countAll(): Promise<number>;
}

function createClient(t: Test, { url }: ApiProcess, token: string): Client {
  const send = async (method: string, path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'x-admin-key': ADMIN_KEY,
      ...(body && { 'content-type': 'application/json' }),
    };
    const answer = await ask(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (answer.status >= 400 || answer.status < 0) t.fail(`${method} ${path}: ${answer.status}`, answer.body);
    return answer.body;
  };
  return {
    send,
    countListed: async () => ((await send('GET', '/api/tasks')).tasks as unknown[]).length,
    countAll: async () => ((await send('GET', '/api/admin/stats')).tasks as { total: number }).total,
  };
}

/** An API process that reads from a standby, and an administrator. */
async function startReading(t: Test, { maxLagMs = 3_600_000 }: { maxLagMs?: number } = {}) {
  const replication = await startReplication(t);
  const ai = await startAiServer({ record: false });
  t.teardown(ai.close);
  const env = {
    DATABASE_READ_URL: replication.standby.url,
    DATABASE_READ_MAX_LAG_MS: String(maxLagMs),
    ADMIN_KEY,
    JWT_SECRET,
    METRICS_PORT: '0',
    RATE_LIMIT_MULTIPLIER: '1000',
  };
  const api = await startApiProcess(t, { databaseUrl: replication.url, aiUrl: ai.url, env });
  const [token = ''] = await signInAll(replication.db, await insertPeople(replication.db, 1));
  await replication.db.execute(sql`update users set role = 'ADMIN'`);
  await until(() => countLines(api, 'a standby answers reads') > 0 && countLines(api, 'started') > 0);
  return { replication, api, ada: createClient(t, api, token) };
}

const countLines = ({ log }: ApiProcess, msg: string) => log.filter((line) => line.msg === msg).length;

async function readMetrics({ log }: ApiProcess) {
  const line = log.find(({ msg }) => msg === 'metrics');
  return scrape(String(line?.url));
}

t.test('Users see their changes at once, and statistics come from a standby', async (t) => {
  const { replication, api, ada } = await startReading(t);
  const { standby } = replication;
  await ada.send('POST', '/api/agent/create-task', TASK);
  await standby.catchUp();
  t.equal(await ada.countAll(), 1);
  await standby.pause();
  await ada.send('POST', '/api/agent/create-task', TASK);
  t.equal(await ada.countListed(), 2);
  t.equal(await ada.countAll(), 1, 'the standby is behind');
  t.ok(((await readMetrics(api)).value('carillon_replica_statements_total', { outcome: 'answered' }) ?? 0) > 0);
  await standby.resume();
  await standby.catchUp();
  t.equal(await ada.countAll(), 2);
});

t.test('While the standby is away, and killed during requests, the primary answers', async (t) => {
  const { replication, api, ada } = await startReading(t);
  const { standby } = replication;
  await ada.send('POST', '/api/agent/create-task', TASK);
  await standby.catchUp();
  let isAsking = true;
  let asked = 0;
  const askOn = async () => {
    for (; isAsking; asked++) t.equal(await ada.countAll(), 1);
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
  const { replication, api, ada } = await startReading(t, { maxLagMs: 500 });
  const { standby } = replication;
  await standby.catchUp();
  await standby.pause();
  await ada.send('POST', '/api/agent/create-task', TASK);
  await until(() => countLines(api, 'a standby is too far behind: others answer its reads') === 1);
  t.equal(await ada.countAll(), 1);
  const metrics = await readMetrics(api);
  t.ok((metrics.value('carillon_replica_lag_seconds') ?? 0) > 0.5);
  t.equal(metrics.value('carillon_replica_ready'), 0);
  await standby.resume();
  await until(async () => (await readMetrics(api)).value('carillon_replica_ready') === 1);
  await until(() => countLines(api, 'a standby answers reads') === 2);
});
