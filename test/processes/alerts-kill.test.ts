import { type Db, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { insertPeople } from './due-tasks.ts';

const USERS = 10;
const TASKS = 3000;

t.setTimeout(120_000);

t.test('Two processes, killed while they alert, alert of each overdue task once', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer({ record: false });
  t.teardown(ai.close);
  const start = () => startApiProcess(t, { databaseUrl, aiUrl: ai.url });
  await insertOverdueTasks(db, await insertPeople(db, USERS));

  let processes = [await start(), await start()];
  // Nothing is found before the processes run, so that both begin at once.
  await db.execute(sql`update tasks set overdue_at = now() - interval '1 second'`);
  for (const api of processes) void keepTicking(api);
  for (const share of [0.1, 0.4]) {
    const [victim, survivor] = processes as [ApiProcess, ApiProcess];
    await until(async () => (await countAlerts(db)).alerts >= TASKS * share);
    t.strictSame(await victim.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
    const { alerts, tasks } = await countAlerts(db);
    t.equal(alerts, tasks, 'a killed batch leaves nothing, or all of it');
    const next = await start();
    void keepTicking(next);
    processes = [survivor, next];
  }
  await until(async () => (await countAlerts(db)).alerts === TASKS);
  await Promise.all(processes.map((api) => api.end('SIGTERM')));

  const expected = { alerts: TASKS, tasks: TASKS, events: TASKS, notifications: TASKS, open: 0 };
  t.strictSame(await countAlerts(db), expected);
});

async function keepTicking(api: ApiProcess): Promise<void> {
  // The last call of a killed process fails.
  while (api.isAlive()) await api.tick({ wait: false }).catch(() => {});
}

/** `TASKS` tasks that are planned for tomorrow, so that nothing runs. */
const insertOverdueTasks = (db: Db, userIds: readonly number[]) =>
  db.execute(sql`
    with quiet as (update users set notify_email = false)
    insert into tasks (user_id, name, prompt, recurrence, timezone, scheduled_for, next_execution_at, ai_model,
      max_tokens, temperature, alerts, created_at, updated_at)
    select (${`{${userIds.join(',')}}`}::int[])[1 + n % ${USERS}::int], 'Task ' || n, 'Name a moon of Saturn.', 'daily', 'UTC',
      now() + interval '1 day', now() + interval '1 day', 'test-model', 100, 70, '{"overdueMinutes":1}', now(), now()
    from generate_series(1, ${TASKS}::int) n`);

/** Alerts, the different tasks they are of, what was delivered of them, and tasks that are still to be alerted. */
async function countAlerts(db: Db) {
  const [counts] = await queryRows<Record<'alerts' | 'tasks' | 'events' | 'notifications' | 'open', number>>(
    db,
    sql`
    select count(*)::int as alerts, count(distinct task_id)::int as tasks,
      (select count(*)::int from events where kinds = '{task.overdue}') as events,
      (select count(*)::int from notifications where kind = 'task.overdue') as notifications,
      (select count(*)::int from tasks where overdue_at is not null or alerting_since is null) as open
    from alerts`,
  );
  if (!counts) throw new Error('The statement returned no row.');
  return counts;
}
