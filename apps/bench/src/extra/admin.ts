import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Benchmark } from '../benchmark.ts';
import { install } from '../environment/installation.ts';
import { printPercentiles } from '../statistics.ts';

const USERS = 1000;
const TASKS_EACH = 10;
const EXECUTIONS = 1_000_000;
/** The rows of one statement, so that it stays within its time limit. */
const BATCH = 20_000;
const USER_BATCH = 50;
const SAMPLES = 50;
const ADMIN = { email: 'ada@example.com', password: 'Carillon-2026' };
const ADMIN_KEY = 'the-admin-key-of-the-bench-1234567890-abcdef';

export const admin: Benchmark = {
  about: `duration of the statistics and the user list over ${USERS} users, ${USERS * TASKS_EACH} tasks and ${EXECUTIONS} executions`,
  async run(stack, environment) {
    const { apiUrl, db } = await install(stack, environment, {
      scheduler: false,
      apiEnv: { ADMIN_KEY, BOOTSTRAP_ADMIN_EMAIL: ADMIN.email, BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password },
    });
    await fill(db);
    const get = await signIn(apiUrl);
    await measure(get, 'before ANALYZE');
    await db.execute(sql`analyze`);
    await measure(get, 'after ANALYZE');
    return [];
  },
};

async function measure(get: (path: string) => Promise<number>, when: string) {
  const lists = {
    'first page (ms)': () => '',
    'any page (ms)': (n: number) => `?offset=${((n * 37) % 20) * 50}`,
    'page of 100 (ms)': (n: number) => `?limit=100&offset=${(n % 10) * 100}`,
    'search (ms)': (n: number) => `?search=${['person 9', '%', 'example.com', 'nobody', '99@'][n % 5]}`,
    'filtered (ms)': (n: number) => `?role=USER&isActive=true&offset=${(n % 20) * 50}`,
  };
  const figures: Record<string, number[]> = { 'statistics (ms)': await sample(() => get('/api/admin/stats')) };
  for (const [name, query] of Object.entries(lists)) {
    figures[name] = await sample((n) => get(`/api/admin/users${query(n)}`));
  }
  const getAccount = (n: number) => get(`/api/admin/users/${((n * 17) % USERS) + 2}`);
  figures['one account (ms)'] = await sample(getAccount);
  console.log(`\n${SAMPLES} responses each, ${when}`);
  printPercentiles(figures);
}

async function sample(request: (n: number) => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    times.push(await request(n));
    await delay(5);
  }
  return times;
}

async function signIn(apiUrl: string) {
  const login = await fetch(`${apiUrl}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-token': 'true' },
    body: JSON.stringify(ADMIN),
  });
  const { token } = (await login.json()) as { token: string };
  return async (path: string) => {
    const startedAt = performance.now();
    const headers = { authorization: `Bearer ${token}`, 'x-admin-key': ADMIN_KEY };
    const response = await fetch(apiUrl + path, { headers });
    const body = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${body}`);
    return performance.now() - startedAt;
  };
}

/** Inserts users, suspended tasks and the executions of two months, one every 5 seconds; every 20th has failed. */
async function fill(db: Db) {
  await db.execute(sql`
    insert into users (identity_user_id, email, name)
    select 'local:' || n, 'person-' || n || '@example.com', 'Person ' || n from generate_series(1, ${USERS}::int) n`);
  await db.execute(sql`
    insert into tasks (user_id, name, prompt, scheduled_for, recurrence, timezone, ai_model, max_tokens, temperature,
      created_at, updated_at)
    select u.id, 'Task ' || n, repeat('Say something nice. ', 20), now(), 'daily', 'UTC', 'openai/gpt-5-mini', 1024, 70, now(), now()
    from users u cross join generate_series(1, ${TASKS_EACH}::int) n where u.role = 'USER'`);
  for (let first = 0; first < EXECUTIONS; first += BATCH) {
    await db.execute(sql`
      insert into executions (task_id, user_id, status, trigger, run_at, queued_at, started_at, completed_at, result,
        error_code, usage_day, created_at, archived)
      select t.id, t.user_id, case when g.failed then 'failed' else 'completed' end, 'manual', g.at, g.at, g.at, g.at,
        case when not g.failed then repeat('An answer. ', 20) end, case when g.failed then 'PROVIDER_ERROR' end,
        g.at::date, g.at, true
      from (
        select n, n % 20 = 0 as failed, now() - (${EXECUTIONS}::int - n) * interval '5 seconds' as at
        from generate_series(${first}::int + 1, ${first + BATCH}::int) n
      ) g join tasks t on t.id = (select min(id) from tasks) + g.n * 7 % ${USERS * TASKS_EACH}::int`);
  }
  for (let first = 0; first < USERS + USER_BATCH; first += USER_BATCH) {
    await db.execute(sql`
      insert into usage_counters (user_id, period, executions, completed, failed)
      select user_id, p.period, count(*), count(*) filter (where status = 'completed'),
        count(*) filter (where status = 'failed')
      from executions cross join lateral (values (usage_day::text), (left(usage_day::text, 7))) p(period)
      where user_id > ${first} and user_id <= ${first + USER_BATCH} group by 1, 2`);
  }
  console.log(`${EXECUTIONS} executions are inserted.`);
}
