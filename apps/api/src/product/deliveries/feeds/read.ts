import { createHash, randomBytes } from 'node:crypto';
import { MAX_ID } from '@carillon/contract/primitives';
import { type Citation, executions, type OutputChange, queryRows, toInstant } from '@carillon/db';
import type { Language } from '@carillon/texts';
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';

const MAX_ENTRIES = 50;
/** How far back results are searched: a task may have failed for ever. */
const MAX_SEARCHED = 5000;
/** Of a result, in characters: together with the number of entries, a bound for the size of a feed. */
export const MAX_RESULT_LENGTH = 20_000;

/** What a feed shows, without the results. */
export interface Feed {
  id: string;
  userId: number;
  /** Of the account. */
  language: Language;
  /** Null for the feed of the account. */
  taskId: number | null;
  taskName: string | null;
  createdAt: Date;
  /** Newest first. */
  runs: readonly FeedRun[];
}

export interface FeedRun {
  id: number;
  taskName: string;
  completedAt: Date;
}

export interface FeedResult {
  /** Longer than `MAX_RESULT_LENGTH` if there is more of it. */
  text: string;
  /** Whether it is the JSON of a task with an output schema. */
  isJson: boolean;
  isCut: boolean;
  changes: readonly OutputChange[];
  citations: readonly Citation[];
}

interface Row {
  id: string;
  userId: number;
  language: Language;
  taskId: number | null;
  taskName: string | null;
  createdAt: string;
  runId: number | null;
  runTask: string;
  completedAt: string;
}

/** Null for a secret of no feed, and for the feed of a deactivated account or of a key that has expired. */
export async function findFeed(ctx: Context, secret: string): Promise<Feed | null> {
  if (!isFeedSecret(secret)) return null;
  const rows = await queryRows<Row>(ctx.db, selectFeed(secret, ctx.now()));
  const [first] = rows;
  if (!first) return null;
  const { id, userId, language, taskId, taskName, createdAt } = first;
  const runs = rows.flatMap(({ runId, runTask, completedAt }) =>
    runId === null ? [] : [{ id: runId, taskName: runTask, completedAt: toInstant(completedAt) }],
  );
  return { id, userId, language, taskId, taskName, createdAt: toInstant(createdAt), runs };
}

/** One row for each run, or one without a run. */
export const selectFeed = (secret: string, now: Date): SQL => sql`
  select f.id, f.user_id as "userId", u.language, f.task_id as "taskId", t.name as "taskName", f.created_at as "createdAt",
    r.id as "runId", r.name as "runTask", r.completed_at as "completedAt"
  from feeds f join users u on u.id = f.user_id and u.is_active left join tasks t on t.id = f.task_id
    left join api_keys k on k.id = f.key_id
    left join lateral (
      select s.id, n.name, s.completed_at from (
        ${selectCompleted(sql`task_id`, sql`f.task_id`)} union all
        ${selectCompleted(sql`user_id`, sql`case when f.task_id is null then f.user_id end`)}) s
      join tasks n on n.id = s.task_id) r on true
  where f.secret_hash = ${hashFeedSecret(secret)} and ${hasNotExpired(now)}
  order by r.id desc`;

/** When the feed `f` that `isOwn` finds got its address; null without one, and for that of a key that has expired. */
export const selectFeedDate = (isOwn: SQL, now: Date): SQL<string | null> => sql<string | null>`(
  select f.created_at from feeds f left join api_keys k on k.id = f.key_id where ${isOwn} and ${hasNotExpired(now)})`;

const hasNotExpired = (now: Date) => sql`(k.expires_at is null or k.expires_at > ${now.toISOString()})`;

/** Bounds of pairs, which no estimate of the number of runs keeps from following the index. None for a null owner. */
const selectCompleted = (column: SQL, owner: SQL) => sql`
  (select id, task_id, completed_at from (
    select id, user_id, task_id, status, outcome, completed_at from executions
    where (${column}, id) >= (${owner}, 0) and (${column}, id) <= (${owner}, ${sql.raw(String(MAX_ID))})
    order by ${column} desc, id desc limit ${sql.raw(String(MAX_SEARCHED))}) x
  where status = 'completed' and outcome is distinct from 'nothing_new' order by ${column} desc, id desc limit ${sql.raw(String(MAX_ENTRIES))})`;

/** By the id of the run. A run that has been deleted since is missing. */
export async function readResults(ctx: Context, { userId, runs }: Feed): Promise<ReadonlyMap<number, FeedResult>> {
  const ids = runs.map(({ id }) => id);
  const rows = await ctx.db
    .select({
      id: executions.id,
      text: sql<string>`coalesce(left(${executions.result}, ${MAX_RESULT_LENGTH + 1}), '')`,
      isJson: sql<boolean>`${executions.output} is not null`,
      isCut: executions.truncated,
      changes: executions.changes,
      citations: executions.citations,
    })
    .from(executions)
    .where(and(inArray(executions.id, ids), eq(executions.userId, userId)));
  return new Map(
    rows.map(({ id, changes, citations, ...result }) => [
      id,
      { ...result, changes: changes ?? [], citations: citations ?? [] },
    ]),
  );
}

const SECRET_BYTES = 32;
const SECRET = /^[\w-]{43}$/;

/** 256 random bits in base64url. */
export const generateFeedSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

const isFeedSecret = (text: string): boolean => SECRET.test(text);

export const hashFeedSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');
