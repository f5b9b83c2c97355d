import { randomUUID } from 'node:crypto';
import { recordset, rows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Context, inTransaction } from '../context.ts';
import { type Account, addUsage, admitExecution, type Breach, dayOf, lockAccounts, reserveTokens, tokensUsedUp, type UsageDelta } from '../limits/quotas.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { LATE_AFTER_MS, refuseExecutions } from './queue.ts';

/** Specification "Concurrency". */
const PER_USER = 5;
const GLOBAL = 1000;
/** Queued rows of one user that a claim looks at, to find some whose task is not running already. */
const LOOKAHEAD = 50;
/** Any number that no other advisory lock of ours uses. */
const CLAIM_LOCK = 7_011_002;

/** An execution that this process runs: its lease is ours until `claimToken` says otherwise. */
export interface Claimed {
  id: number;
  taskId: number;
  userId: number;
  attempt: number;
  claimToken: string;
  prompt: string;
  aiModel: string;
  maxTokens: number;
  temperature: number;
  attachmentIds: string[];
  providerKeySealed: string | null;
}

type Candidate = Omit<Claimed, 'claimToken'> & {
  taskName: string;
  usageDay: string;
  lastDurationMs: number | null;
};

export interface Claim {
  started: Claimed[];
  /** Where the next claim goes on among the users; 0 when this one reached the last of them. */
  next: number;
}

/**
 * Starts up to `limit` queued executions: at most 5 at once for a user and 1000 over all processes, one at a time of a
 * task, and none over a token quota. Goes round the users from the one after `after`, so that a user with a thousand
 * runs waiting delays nobody else (specification "Concurrency", decisions §5).
 *
 * Started means: `running`, with a lease, before the provider is called. No two claims run at once, in any process,
 * which is what makes the counts exact.
 */
export function claimQueued(ctx: Context, { limit, after }: { limit: number; after: number }): Promise<Claim> {
  return inTransaction(ctx, async (tx) => {
    // A statement of its own: what waited for the lock must not read with a snapshot from before.
    await tx.db.execute(sql`select pg_advisory_xact_lock(${CLAIM_LOCK})`);
    const candidates = await findCandidates(tx, limit, after);
    const next = candidates.length < limit ? 0 : (candidates.at(-1)?.userId ?? 0);
    if (candidates.length === 0) return { started: [], next };

    const now = ctx.now();
    const userIds = candidates.map((candidate) => candidate.userId);
    const accounts = await lockAccounts(tx.db, userIds, now);
    const { starting, refused, deltas } = decide(candidates, accounts, now);
    const started = starting.map((candidate) => ({ ...candidate, claimToken: randomUUID() }));
    await Promise.all([
      writeStarts(tx, started, now),
      addUsage(tx.db, deltas),
      recordEvents(tx, started.flatMap((run) => startEvents(run, now))),
    ]);
    await refuseExecutions(tx, refused);
    return { started, next };
  });
}

/** Whether anything waits for a worker: what an idle process asks instead of claiming. */
export async function hasQueued(ctx: Context): Promise<boolean> {
  const [row] = await rows<{ waiting: boolean }>(
    ctx.db,
    sql`select exists (select from executions where status = 'pending' and queued_at is not null) as waiting`,
  );
  return row?.waiting ?? false;
}

/** Hops from user to user in the index of queued rows, so the cost is that of who waits, not of how much waits. */
function findCandidates(ctx: Context, limit: number, after: number): Promise<Candidate[]> {
  return rows<Candidate>(
    ctx.db,
    sql`
    with recursive busy as (
      select user_id, count(*)::int as running from executions where status = 'running' group by user_id
    ), waiting(user_id) as (
      (select user_id from executions where status = 'pending' and queued_at is not null and user_id > ${after}
        order by user_id limit 1)
      union all
      select (select e.user_id from executions e where e.status = 'pending' and e.queued_at is not null
        and e.user_id > w.user_id order by e.user_id limit 1)
      from waiting w where w.user_id is not null
    ), picked as materialized (
      select p.id from waiting w left join busy b using (user_id) cross join lateral (
        select q.id from (
          select e.id, e.task_id, e.run_at, row_number() over (partition by e.task_id order by e.run_at, e.id) as turn
          from (
            select id, task_id, run_at from executions
            where status = 'pending' and queued_at is not null and user_id = w.user_id
            order by run_at, id limit ${LOOKAHEAD}
          ) e
        ) q
        where q.turn = 1
          and not exists (select from executions r where r.task_id = q.task_id and r.status = 'running')
        order by q.run_at, q.id limit greatest(0, ${PER_USER}::int - coalesce(b.running, 0))
      ) p
      limit greatest(0, least(${limit}::int, ${GLOBAL}::int - (select coalesce(sum(running), 0) from busy)))
    )
    select e.id, e.task_id as "taskId", e.user_id as "userId", e.attempt, e.usage_day as "usageDay",
      t.name as "taskName", t.prompt, t.ai_model as "aiModel", t.max_tokens as "maxTokens", t.temperature,
      t.attachment_ids as "attachmentIds", t.last_duration_ms as "lastDurationMs",
      u.provider_key_sealed as "providerKeySealed"
    from executions e join tasks t on t.id = e.task_id join users u on u.id = e.user_id
    where e.id = any(array(select id from picked)) and not (select maintenance_mode from settings)
    order by e.user_id > ${after} desc, e.user_id, e.run_at, e.id for no key update of t, e skip locked`,
  );
}

/** Starts, refuses, or leaves waiting where the tokens that others have reserved fill the quota. */
function decide(candidates: readonly Candidate[], accounts: ReadonlyMap<number, Account>, now: Date) {
  const today = dayOf(now);
  const starting: Candidate[] = [];
  const refused: { id: number; breach: Breach }[] = [];
  const deltas: UsageDelta[] = [];
  for (const candidate of candidates) {
    const { id, userId, usageDay, maxTokens } = candidate;
    const account = accounts.get(userId) as Account;
    // Executions count on the day they start: one that waited over midnight moves to the new day's quota.
    const breach = usageDay === today ? tokensUsedUp(account, now) : admitExecution(account, now);
    if (breach) {
      refused.push({ id, breach });
      continue;
    }
    if (!reserveTokens(account, maxTokens)) continue;
    if (usageDay !== today) {
      deltas.push({ userId, day: usageDay, executions: -1 }, { userId, day: today, executions: 1 });
    }
    deltas.push({ userId, day: today, tokensReserved: maxTokens });
    starting.push(candidate);
  }
  return { starting, refused, deltas };
}

async function writeStarts(ctx: Context, started: readonly (Claimed & Candidate)[], now: Date) {
  const starts = started.map(({ id, claimToken, maxTokens }) => ({ id, token: claimToken, tokens: maxTokens }));
  const at = sql`${now.toISOString()}::timestamptz`;
  const lease = new Date(now.getTime() + ctx.config.executionLeaseMs).toISOString();
  await ctx.db.execute(sql`
    with started as (
      update executions e set status = 'running', started_at = ${at}, claim_token = s.token,
        lease_until = ${lease}, tokens_reserved = s.tokens, usage_day = ${dayOf(now)}
      from jsonb_to_recordset(${recordset(starts)}::jsonb) as s(id int, token uuid, tokens int)
      where e.id = s.id
      returning e.task_id, e.planned_for, e.trigger, e.interruptions
    ), late as (
      update occurrences o set fate = 'late' from started s
      where s.trigger = 'schedule' and o.task_id = s.task_id and o.planned_for = s.planned_for and o.fate = 'ran'
        and ${at} - o.planned_for > make_interval(secs => ${LATE_AFTER_MS / 1000})
    )
    update tasks t set last_execution_at = ${at},
      execution_count = t.execution_count + case when s.interruptions = 0 then 1 else 0 end
    from started s where t.id = s.task_id`);
}

function startEvents({ id, taskId, taskName, userId, lastDurationMs }: Candidate, now: Date) {
  const data = {
    task: { id: taskId, name: taskName },
    execution: {
      id,
      status: 'running' as const,
      startedAt: now.toISOString(),
      // Before the first completed run there is nothing to go by but the order of magnitude of such calls.
      estimatedDurationMs: lastDurationMs ?? 10_000,
    },
  };
  return [
    { kind: 'task.started' as const, userId, data },
    { kind: 'execution.started' as const, userId, data },
  ];
}
