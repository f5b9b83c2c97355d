import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { type executions, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { taskNotFound } from '../../errors.ts';
import { toUtcDay, toUtcMonth } from '../../platform/limits/quotas.ts';
import { selectChannelChoices } from '../../platform/queries/channel-choices.ts';
import { isWatched, selectLatestRuns } from '../../platform/queries/runs.ts';
import { selectFeedDate } from '../deliveries/feeds/read.ts';
import { type RecentCost, type RunOutcome, selectPlannedRuns, selectRecentCost } from './planned-runs.ts';
import { getTask } from './read.ts';
import { previewNextRuns } from './schedule.ts';

const RUNS = 30;
/** An answer older than this many runs is not looked for. */
const RUNS_WITH_ANSWER = 200;
const EXCERPT = 300;
const NEXT = 10;

type ExecutionRow = typeof executions.$inferSelect;

interface TaskRun
  extends Pick<
    ExecutionRow,
    'id' | 'status' | 'trigger' | 'attempt' | 'error' | 'errorCode' | 'costUsd' | 'processingTimeMs' | 'taskVersion'
  > {
  plannedFor: string | null;
  createdAt: string;
  runAt: string;
  isQueued: boolean;
  startedAt: string | null;
  completedAt: string | null;
  /** The beginning of the answer. */
  excerpt: string | null;
  isChanged: boolean;
}

interface TaskAnswer extends Pick<ExecutionRow, 'id' | 'output' | 'changes' | 'model'> {
  text: string;
  plannedFor: string | null;
  completedAt: string;
}

interface Found {
  /** The last 30, oldest first. */
  planned: { plannedFor: string; fate: RunOutcome; latenessMs: number | null; executionId: number | null }[];
  /** The last 30, newest first. */
  runs: TaskRun[];
  /** The last two among the latest runs, newest first. */
  answers: TaskAnswer[];
  attachments: { id: string; name: string; size: number }[];
  /** Those that the task names. */
  channels: ChannelChoice[];
  /** When the address of its feed was made; null without one that works. */
  feedCreatedAt: string | null;
  cost: RecentCost;
  /** Of this month in UTC: planned runs whose sources were unchanged. Null without any. */
  saved: { runs: number; usd: number } | null;
}

/** A task with its last runs and answers, in two statements. Throws 404. */
export async function getTaskWithRuns(ctx: Context, caller: Caller, id: number) {
  const [task, found] = await Promise.all([getTask(ctx, caller, id), findRuns(ctx, caller, id)]);
  if (!found) throw taskNotFound();
  return { task, ...found, next: previewNextRuns(ctx, task, NEXT, caller.language) };
}

async function findRuns(ctx: Context, caller: Caller, id: number): Promise<Found | undefined> {
  const taskId = sql`t.id`;
  const [found] = await queryRows<Found>(
    ctx.db,
    sql`
    select
      (select coalesce(json_agg(json_build_object('plannedFor', planned_for, 'fate', fate,
          'executionId', execution_id, 'latenessMs', extract(epoch from started_at - planned_for) * 1000) order by planned_for), '[]')
        from (${selectPlannedRuns(taskId)}) p) as planned,
      (select coalesce(json_agg(json_build_object('id', e.id, 'status', e.status, 'trigger', e.trigger,
          'attempt', e.attempt, 'plannedFor', e.planned_for, 'createdAt', e.created_at, 'runAt', e.run_at,
          'isQueued', e.queued_at is not null, 'startedAt', e.started_at, 'completedAt', e.completed_at,
          'excerpt', left(e.result, ${EXCERPT}), 'error', e.error, 'errorCode', e.error_code, 'costUsd', e.cost_usd,
          'processingTimeMs', e.processing_time_ms, 'taskVersion', e.task_version, 'isChanged', e.changed is true and ${isWatched('t')}) order by e.id desc), '[]')
        from (${selectLatestRuns(taskId, RUNS)}) e) as runs,
      (select coalesce(json_agg(json_build_object('id', a.id, 'text', a.result, 'output', a.output, 'changes', a.changes, 'model', a.model,
          'plannedFor', a.planned_for, 'completedAt', a.completed_at) order by a.id desc), '[]')
        from (
          select * from (${selectLatestRuns(taskId, RUNS_WITH_ANSWER)}) e where status = 'completed' and result is not null order by e.id desc limit 2
        ) a) as answers,
      (select coalesce(json_agg(json_build_object('id', u.id, 'name', u.name, 'size', u.size)
          order by array_position(t.attachment_ids, u.id)), '[]')
        from uploads u where u.id = any(t.attachment_ids)) as attachments,
      ${selectChannelChoices(sql`t.user_id`, sql`c.id = any(t.channels)`)} as channels,
      ${selectFeedDate(sql`f.task_id = t.id`, ctx.now())} as "feedCreatedAt",
      (select json_build_object('runs', l.saved_runs, 'usd', l.saved_usd) from task_looks l
        where l.id = t.id and l.saved_month = ${toUtcMonth(toUtcDay(ctx.now()))} and l.saved_runs > 0) as saved,
      c.cost
    from tasks t cross join lateral (${selectRecentCost(taskId, ctx.now())}) c
    where t.id = ${id} and t.user_id = ${caller.id}`,
  );
  return found;
}
