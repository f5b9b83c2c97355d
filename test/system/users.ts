import { randomUUID } from 'node:crypto';
import { createSessionTokens, generateApiKey, hashApiKey, toShownPrefix } from '@carillon/api/product/auth/tokens';
import { apiKeys, type Db, queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';

export interface Task {
  id: number;
  userId: number;
  prompt: string;
}

export interface User {
  id: number;
  email: string;
  token: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Inserts users on the plan `pro` with sessions. Many users keep their quotas (5 at once, 500 a day) out of the figures. */
export async function insertUsers(
  db: Db,
  { count, jwtSecret, passwordHash = null }: { count: number; jwtSecret: string; passwordHash?: string | null },
): Promise<User[]> {
  const now = new Date();
  const people = await queryRows<{ id: number; email: string }>(
    db,
    sql`
    insert into users (identity_user_id, email, name, plan, password_hash)
    select 'local:' || k, 'person-' || k || '@example.com', 'Person ' || n, 'pro', ${passwordHash}::text
    from generate_series(1, ${count}::int) n cross join lateral (select gen_random_uuid() || '-' || n) u(k)
    returning id, email`,
  );
  const sessions = people.map(({ id, email }) => ({ id, email, session: randomUUID() }));
  await db.execute(sql`
    insert into sessions (id, user_id, created_at, last_used_at, expires_at)
    select session, id, ${now.toISOString()}::timestamptz, ${now.toISOString()}::timestamptz,
      ${new Date(now.getTime() + 7 * DAY_MS).toISOString()}::timestamptz
    from ${recordset('s', sessions, { id: 'int', session: 'uuid' })}`);
  const tokens = await createSessionTokens({ jwtSecret });
  return sessions.map(({ id, email, session }) => ({
    id,
    email,
    token: tokens.sign({ userId: id, sessionId: session }, now),
  }));
}

/** Inserts an API key for each user and returns the keys by the user's id. */
export async function insertApiKeys(db: Db, users: readonly Pick<User, 'id'>[]): Promise<Map<number, string>> {
  const keys = users.map(({ id: userId }) => ({ userId, id: randomUUID(), secret: generateApiKey() }));
  await db.insert(apiKeys).values(
    keys.map(({ secret, ...key }) => ({
      ...key,
      name: 'A program',
      prefix: toShownPrefix(secret),
      secretHash: hashApiKey(secret),
      scopes: ['tasks:read'],
      createdAt: new Date(),
    })),
  );
  return new Map(keys.map(({ userId, secret }) => [userId, secret]));
}

const PROMPT = 'Write one sentence that begins a working day well, and name a moon of Saturn. '.repeat(4);

/** Inserts `each` daily tasks for every user, due in the far future and each with a prompt of its own. */
export async function insertTasks(db: Db, each: number): Promise<Task[]> {
  const found = await queryRows<Task>(
    db,
    sql`
    insert into tasks (user_id, name, prompt, scheduled_for, next_execution_at, recurrence, timezone, ai_model, max_tokens,
      temperature, created_at, updated_at)
    select u.id, 'Task ' || n, ${PROMPT} || 'No. ' || u.id || '-' || n, at, at, 'daily', 'UTC', 'openai/gpt-5-mini', 256, 70,
      now(), now()
    from users u cross join generate_series(1, ${each}::int) n cross join (values ('2099-01-01T00:00:00Z'::timestamptz)) f(at)
    order by n, u.id
    returning id, user_id as "userId", prompt`,
  );
  await db.execute(sql`analyze`);
  return found;
}

/** Makes all tasks or `taskIds` due at `at`, `intervalMs` apart in the order of their ids. Default: 0. */
export async function setDue(
  db: Db,
  at: Date,
  { intervalMs = 0, taskIds }: { intervalMs?: number; taskIds?: number[] } = {},
) {
  const which = taskIds ? sql`id = any(${`{${taskIds.join(',')}}`}::int[])` : sql`true`;
  await db.execute(sql`
    update tasks t set next_execution_at = ${at.toISOString()}::timestamptz + n * ${intervalMs}::float8 * interval '1 ms'
    from (select id, row_number() over (order by id) - 1 as n from tasks where ${which}) o where t.id = o.id`);
}

/** Posts JSON as a signed-in user and returns the answer. Throws unless it is a 2xx. */
export async function postAs({ token }: Pick<User, 'token'>, url: string, body: object) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}
