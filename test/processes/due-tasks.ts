import { DAY_MS } from '@carillon/contract/primitives';
import { type Db, queryRows, users } from '@carillon/db';
import { sql } from 'drizzle-orm';

let people = 0;

/** Inserts `count` users of the pro plan without a password; returns their ids. */
export async function insertPeople(db: Db, count: number): Promise<number[]> {
  const values = Array.from({ length: count }, () => {
    people += 1;
    return {
      identityUserId: `test:${people}`,
      email: `person-${people}@example.com`,
      name: `Person ${people}`,
      plan: 'pro' as const,
    };
  });
  const inserted = await db.insert(users).values(values).returning({ id: users.id });
  return inserted.map(({ id }) => id);
}

export interface DueTasks {
  userIds: number[];
  perUser: number;
  /** When all of them are due. */
  at: Date;
  /** Every n-th task repeats daily and has missed the runs of the last two days. Default: none. */
  dailyEvery?: number;
}

/** Inserts tasks that are due at `at`, each with its own prompt; returns their ids. */
export async function insertDueTasks(db: Db, { userIds, perUser, at, dailyEvery = 0 }: DueTasks): Promise<number[]> {
  const twoDaysBefore = new Date(at.getTime() - 2 * DAY_MS);
  const inserted = await queryRows<{ id: number }>(
    db,
    sql`
    insert into tasks (user_id, name, prompt, recurrence, timezone, scheduled_for, next_execution_at, ai_model,
      max_tokens, temperature, created_at, updated_at)
    select u, 'Due task', format('Prompt %s of person %s: name a moon of Saturn.', n, u),
      case when daily then 'daily' else 'once' end, 'UTC', due, due, 'test-model', 100, 70, due, due
    from unnest(${`{${userIds.join(',')}}`}::int[]) u, generate_series(1, ${perUser}::int) n,
      lateral (select ${dailyEvery}::int > 0 and n % greatest(${dailyEvery}::int, 1) = 0 as daily) d,
      lateral (select case when daily then ${twoDaysBefore.toISOString()}::timestamptz
        else ${at.toISOString()}::timestamptz end as due) w
    returning id`,
  );
  return inserted.map(({ id }) => id);
}

/** The number of executions by status. */
export async function countStates(db: Db): Promise<Record<'pending' | 'running' | 'completed' | 'failed', number>> {
  const [counts] = await queryRows<Record<'pending' | 'running' | 'completed' | 'failed', number>>(
    db,
    sql`select count(*) filter (where status = 'pending')::int as pending,
      count(*) filter (where status = 'running')::int as running,
      count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'failed')::int as failed
    from executions`,
  );
  return counts as Record<'pending' | 'running' | 'completed' | 'failed', number>;
}

/** Tasks without exactly one ledger row of a run and exactly one execution, retries excluded. */
export async function findNotOnce(db: Db): Promise<{ id: number }[]> {
  const found = await queryRows<{ id: number }>(
    db,
    sql`
    select t.id, o.count as occurrences, e.count as executions from tasks t
      left join (
        select task_id, count(*)::int from occurrences where fate in ('ran', 'late') group by task_id
      ) o on o.task_id = t.id
      left join (
        select task_id, count(*)::int from executions where trigger <> 'retry' group by task_id
      ) e on e.task_id = t.id
    where o.count is distinct from 1 or e.count is distinct from 1`,
  );
  return [...found];
}
