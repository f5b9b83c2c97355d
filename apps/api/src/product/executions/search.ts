import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { selectFirstUnsettled } from '../../platform/queries/runs.ts';
import { inTransaction } from '../../transaction.ts';

const MAX_RUNS = 200;
/** Before a search: the rest follows in the background. */
const MAX_BATCHES = 5;
const MAX_USERS = 20;
/** Of a text: a list of words has at most a megabyte. */
const MAX_CHARACTERS = 100_000;

/** No text has such a word: the parser of words splits it. */
const userWord = (userId: number) => `user:${userId}`;

/** The ids of the user's runs whose prompt or result has the words of `q`; none for a query without words. */
export const selectRunsWithWords = (userId: number, q: string): SQL => sql`
  select r.execution_id from run_texts r
  where numnode(websearch_to_tsquery('simple', ${q})) > 0
    and r.words @@ (websearch_to_tsquery('simple', ${q}) && (${`'${userWord(userId)}'`})::tsquery)`;

/**
 * Stores the words of runs that have ended since the last call, of some users by chance: in any other order, users with many
 * runs would keep the others waiting. Processes may call it concurrently.
 */
export async function indexRunTexts(ctx: Context): Promise<void> {
  const behind = await queryRows<{ userId: number }>(
    ctx.db,
    sql`
    select p.user_id from event_positions p left join search_positions s using (user_id)
    where p.last_id > coalesce(s.last_event_id, 0) order by random() limit ${MAX_USERS}`,
  );
  for (const { userId } of behind) {
    if (ctx.worker.stopping.aborted) return;
    await indexRunsOfUser(ctx, userId);
  }
}

/** The newest runs first, so that a search finds what has just ended. */
export async function indexRunsOfUser(ctx: Context, userId: number): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    if (!(await inTransaction(ctx, (tx) => indexBatch(tx, userId)))) return;
  }
}

/** Whether there may be more. Does nothing while another process does it. */
async function indexBatch(tx: Context, userId: number): Promise<boolean> {
  await tx.db.execute(
    sql`insert into search_positions (user_id) select id from users where id = ${userId} on conflict do nothing`,
  );
  const [position] = await queryRows<{ lastId: string }>(
    tx.db,
    sql`
    select (select coalesce(max(p.last_id), 0) from event_positions p where p.user_id = s.user_id) as last_id
    from search_positions s where s.user_id = ${userId} for update skip locked`,
  );
  if (!position) return false;
  const text = sql`left(coalesce(e.request ->> 'prompt', ''), ${MAX_CHARACTERS}::int) || ' ' || left(coalesce(e.result, ''), ${MAX_CHARACTERS}::int)`;
  const stored = await queryRows(
    tx.db,
    sql`
    with ended as materialized (
      select e.id, e.task_id, ${text} as text from executions e
      where e.user_id = ${userId} and e.status in ('completed', 'failed')
        and e.id >= (select from_id from search_positions s where s.user_id = ${userId})
        and not exists (select from run_texts r where r.execution_id = e.id)
      order by e.id desc limit ${MAX_RUNS}
    ), kept as materialized (
      select id from tasks where id in (select task_id from ended) order by id for key share
    )
    insert into run_texts (execution_id, task_id, words)
    select ended.id, task_id, to_tsvector('simple', text) || array_to_tsvector(array[${userWord(userId)}::text])
    from ended join kept on kept.id = ended.task_id
    on conflict do nothing returning 1`,
  );
  if (stored.length === MAX_RUNS) return true;
  await tx.db.execute(sql`
    update search_positions s set last_event_id = ${position.lastId},
      from_id = greatest(from_id, ${selectFirstUnsettled(sql`s.user_id`, tx.now())})
    where user_id = ${userId}`);
  return false;
}
