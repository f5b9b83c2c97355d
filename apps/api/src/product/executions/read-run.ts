import { executions, occurrences, tasks, usageRecords } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { executionNotFound } from '../../errors.ts';
import { hasPlannedTrigger } from '../../platform/queries/planned-trigger.ts';
import { isWatched } from '../../platform/queries/watched-tasks.ts';
import { earlierSuccess } from './changes/earlier-success.ts';
import { executionFields, stepFields, toExecution } from './read.ts';
import { readRunDeliveries } from './run-deliveries.ts';
import { listSteps } from './timeline.ts';

const MAX_ATTEMPTS = 10;
const MAX_RETRIES = 20;
const MAX_NEAR = 2;

type ExecutionRow = typeof executions.$inferSelect;

interface JsonRetry extends Pick<ExecutionRow, 'id' | 'trigger' | 'attempt' | 'status'> {
  runAt: string;
  createdAt: string;
}

interface EarlierAttempt extends Pick<ExecutionRow, 'id' | 'attempt' | 'errorCode' | 'error'> {
  endedAt: string | null;
}

interface NearRun extends Pick<ExecutionRow, 'id' | 'status' | 'attempt' | 'errorCode'> {
  fate: (typeof occurrences.$inferSelect)['fate'] | null;
  /** The planned instant; of a run on demand, when it was asked for. */
  at: string;
  isChanged: boolean;
}

const retriesOfRun = sql<JsonRetry[]>`(select coalesce(jsonb_agg(to_jsonb(r) order by r.id), '[]') from (
  select x.id, x.trigger, x.attempt, x.status, x.run_at as "runAt", x.created_at as "createdAt" from executions x
  where x.retry_of_id = ${executions.id} and x.id > ${executions.id} order by x.id desc limit ${MAX_RETRIES}) r)`;

/** The runs that it repeats, oldest first. */
const earlierAttempts = sql<EarlierAttempt[]>`(
  with recursive chain as (
    select x.id, x.retry_of_id, x.attempt, x.error_code, x.error, x.completed_at, 1 as depth from executions x
    where x.id = ${executions.retryOfId}
    union all
    select x.id, x.retry_of_id, x.attempt, x.error_code, x.error, x.completed_at, depth + 1
    from chain join executions x on x.id = chain.retry_of_id where depth < ${MAX_ATTEMPTS}
  )
  select coalesce(jsonb_agg(jsonb_build_object('id', id, 'attempt', attempt, 'errorCode', error_code, 'error', error,
    'endedAt', completed_at) order by id), '[]') from chain)`;

const near = (side: 'before' | 'after') => {
  const isBefore = side === 'before';
  return sql<NearRun[]>`(select coalesce(jsonb_agg(to_jsonb(n) order by n.id), '[]') from (
    select x.id, x.status, x.attempt, x.error_code as "errorCode", o.fate, coalesce(x.planned_for, x.created_at) as at,
      x.changed is true and ${isWatched('tasks')} as "isChanged"
    from executions x
    left join occurrences o on o.task_id = x.task_id and o.planned_for = x.planned_for and ${hasPlannedTrigger('x')}
    where x.task_id = ${executions.taskId} and x.id ${isBefore ? sql`<` : sql`>`} ${executions.id}
    order by x.id ${isBefore ? sql`desc` : sql`asc`} limit ${MAX_NEAR}) n)`;
};

/** The answer that it was compared with, or else the one before it. */
const lastSuccess = sql<{ id: number; at: string; answer: string } | null>`(
  select jsonb_build_object('id', x.id, 'at', coalesce(x.planned_for, x.created_at), 'answer', x.result)
  from executions x where x.id = ${earlierSuccess})`;

const attachments = sql<{ name: string; url: string | null }[]>`(
  select coalesce(jsonb_agg(jsonb_build_object('name', u.name, 'url', case when u.storage = 'blob' then u.url end)
    order by a.at), '[]')
  from unnest(${tasks.attachments}) with ordinality a(id, at)
  join uploads u on u.id = a.id and u.user_id = ${tasks.userId})`;

/** The part of the cost that is for tools; 0 if the provider reports one sum. */
const toolCostUsd = sql<number>`(
  select coalesce(sum(${usageRecords.toolCostUsd}), 0) from ${usageRecords} where ${usageRecords.executionId} = ${executions.id})`;

/** What a page shows of a run, in two statements. Throws 404. */
export async function getRun(ctx: Context, caller: Caller, id: number) {
  const [[found], { deliveries, mails }] = await Promise.all([
    ctx.db
      .select({
        execution: executionFields,
        request: executions.request,
        steps: stepFields,
        fate: occurrences.fate,
        toolCostUsd,
        task: {
          id: tasks.id,
          name: tasks.name,
          prompt: tasks.prompt,
          model: tasks.aiModel,
          changedAt: tasks.updatedAt,
          nextRunAt: tasks.nextExecutionAt,
        },
        attachmentIds: tasks.attachments,
        attachments,
        retries: retriesOfRun,
        earlierAttempts,
        lastSuccess,
        comparedWithId: executions.comparedWithId,
        isChanged: sql<boolean>`${executions.changed} is true and ${isWatched('tasks')}`,
        before: near('before'),
        after: near('after'),
      })
      .from(executions)
      .innerJoin(tasks, eq(tasks.id, executions.taskId))
      .leftJoin(
        occurrences,
        and(
          eq(occurrences.taskId, executions.taskId),
          eq(occurrences.plannedFor, executions.plannedFor),
          hasPlannedTrigger('executions'),
        ),
      )
      .where(and(eq(executions.id, id), eq(executions.userId, caller.id))),
    readRunDeliveries(ctx, caller, id),
  ]);
  if (!found) throw executionNotFound();
  const { steps, task, attachmentIds, attachments: files, retries, ...rest } = found;
  const execution = toExecution(found.execution);
  const asked = { request: found.request, model: task.model, attachmentIds, changedAt: task.changedAt };
  return {
    run: {
      ...rest,
      execution,
      task: { ...task, attachments: files },
      steps: listSteps({ ...execution, ...steps }, asked, retries.map(toRetry)),
      hasLiveRetry: retries.some(({ status }) => status === 'pending' || status === 'running'),
    },
    deliveries,
    mails,
  };
}

const toRetry = ({ runAt, createdAt, ...retry }: JsonRetry) => ({
  ...retry,
  runAt: new Date(runAt),
  createdAt: new Date(createdAt),
});
