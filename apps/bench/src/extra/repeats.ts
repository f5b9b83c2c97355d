import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Benchmark, Environment } from '../benchmark.ts';
import { connectDatabase } from '../environment/installation.ts';
import { type RunningProcess, resolveProgram, startProcess } from '../environment/processes.ts';
import { insertUsers } from '../environment/users.ts';

const REQUESTS = 200;
const QUICK_REQUESTS = 20;
/** Below the limit of 100 active tasks. */
const PER_USER = 50;
/** In progress at each kill. */
const AT_ONCE = 10;
/** Requests are spread over the duration of a first one, kills over this multiple of it. */
const SPREAD = 2;

interface Answer {
  status: number;
  body: string;
  isReplayed: boolean;
}

export const repeats: Benchmark = {
  about: `${REQUESTS} requests with an Idempotency-Key, each repeated until it is answered while its process is killed at a random point`,
  async run(stack, environment) {
    const count = environment.quick ? QUICK_REQUESTS : REQUESTS;
    const { db, start, users } = await setUp(stack, environment, Math.ceil(count / PER_USER));
    const durationMs = await measureFirstRequest(await start(), users[0]?.token ?? '');
    console.log(`  The first request of a process takes ${Math.round(durationMs)} ms.`);

    const totals = { kills: 0, attempts: 0, interrupted: 0, replayed: 0, conflicts: 0 };
    const taskIds = new Set<number>();
    const open = Array.from({ length: count }, (_, n) => n);
    let next = start();
    while (open.length > 0) {
      const api = await next;
      next = start();
      totals.kills += 1;
      const sent = open.splice(0, AT_ONCE).map(async (n) => {
        await delay(Math.random() * durationMs);
        totals.attempts += 1;
        const answer = await createTask(api.ready, users[Math.floor(n / PER_USER)]?.token ?? '', `repeat-${n}`);
        if (answer === null || answer.status === 409) {
          totals[answer ? 'conflicts' : 'interrupted'] += 1;
          open.push(n);
          return;
        }
        if (answer.status !== 201) throw new Error(`${answer.status} ${answer.body}`);
        if (answer.isReplayed) totals.replayed += 1;
        taskIds.add(JSON.parse(answer.body).taskId);
      });
      const all = Promise.all(sent);
      await Promise.race([all, delay(Math.random() * SPREAD * durationMs)]);
      api.signal('SIGKILL');
      await Promise.all([all, api.exited]);
    }
    (await next).signal('SIGKILL');
    const [found] = await queryRows<{ tasks: number }>(
      db,
      sql`select count(*)::int as tasks from tasks where name = 'Repeated'`,
    );
    console.log(`  ${count} requests, ${taskIds.size} answers with different tasks, ${found?.tasks} tasks:`, totals);
    if (taskIds.size !== count || found?.tasks !== count) throw new Error('A request has run twice, or not at all.');
    return [];
  },
};

async function setUp(stack: AsyncDisposableStack, { server }: Environment, userCount: number) {
  const { folder } = server;
  const databaseUrl = await server.newDatabase();
  const secret = () => randomBytes(32).toString('base64');
  const env = {
    NODE_ENV: 'production',
    PORT: '0',
    DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    AI_BASE_URL: 'offline',
    STORAGE_DRIVER: 'disk',
    SMTP_URL: 'smtp://127.0.0.1:9',
    MAIL_FROM: 'carillon@example.com',
    CRON_SECRET: secret(),
    JWT_SECRET: secret(),
    ENCRYPTION_KEY: secret(),
    ADMIN_KEY: secret(),
    RATE_LIMIT_MULTIPLIER: '100000',
  };
  let starts = 0;
  const start = (): Promise<RunningProcess> =>
    startProcess(stack, {
      name: `api-${++starts}`,
      file: resolveProgram('../../api/src/main.ts'),
      folder,
      env,
      ready: /Server listening at ([^\s"]+)/,
    });
  const db = connectDatabase(stack, databaseUrl);
  const api = await start();
  const users = await insertUsers(db, { count: userCount, jwtSecret: env.JWT_SECRET });
  api.signal('SIGKILL');
  return { db, start, users };
}

async function measureFirstRequest(api: RunningProcess, token: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await createTask(api.ready, token, 'first', 'First');
  if (answer?.status !== 201) throw new Error(`The first request was answered by ${answer?.body}`);
  const durationMs = performance.now() - startedAt;
  api.signal('SIGKILL');
  return durationMs;
}

/** Null without an answer. */
async function createTask(url: string, token: string, key: string, name = 'Repeated'): Promise<Answer | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key };
  const task = { name, prompt: 'Name a moon of Saturn.', scheduledFor: '2099-01-01T00:00:00Z' };
  const body = JSON.stringify({ ...task, recurrence: 'once', timezone: 'UTC' });
  try {
    const response = await fetch(`${url}/api/agent/create-task`, { method: 'POST', headers, body });
    const isReplayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, body: await response.text(), isReplayed };
  } catch {
    return null;
  }
}
