import type { ChangeTaskInput, CreateTaskInput } from '@carillon/contract/tasks';
import { executions, queryRows, tasks, violatedUnique } from '@carillon/db';
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, taskNotFound } from '../../errors.ts';
import { recordEvents } from '../../platform/events/outbox.ts';
import { assertRevision, type ExpectedRevisions } from '../../platform/queries/revision.ts';
import { getSettings } from '../../platform/settings.ts';
import { inTransaction } from '../../transaction.ts';
import { assertReachable, setTaskWebhook } from '../deliveries/webhooks/managed-webhooks.ts';
import { checkRequiredTools, checkTools, checkToolUses } from '../executions/request/check-tools.ts';
import { forgetSources } from '../executions/sources/states.ts';
import { requestConfirmations } from '../notifications/addresses.ts';
import { changedOverdueAt, computeOverdueAt } from '../notifications/alerts/overdue.ts';
import { checkRunIf } from '../sources/check-sources.ts';
import { reserveActiveTask } from './active-quota.ts';
import { forgetSkips, hasLiveRun, markMissed } from './occurrences.ts';
import { type TaskRow, taskFields } from './read.ts';
import { assertInFuture, parseSchedule, requireNextRun } from './schedule.ts';
import { checkSettings, completeSettings, type Settings, toColumns } from './settings.ts';
import { assertNewLimits, nextState } from './state.ts';
import { recordFirstVersions, recordVersion } from './versions/record.ts';

/** Returns the id. Throws 400, and 402 over the quota of active tasks. */
export function createTask(ctx: Context, caller: Caller, input: CreateTaskInput): Promise<number> {
  const schedule = parseSchedule(input);
  assertInFuture(schedule, ctx.now());
  const { status = 'active', webhookUrl } = input;
  if (webhookUrl) assertReachable(ctx, 'webhookUrl', webhookUrl);
  return inTransaction(ctx, async (tx) => {
    const given = await toColumns(tx, caller, input);
    const system = status === 'active' ? await reserveActiveTask(tx, caller) : await getSettings(tx);
    const settings = completeSettings({ ...given, ...schedule }, system);
    await checkSettings(tx, settings);
    assertNewLimits(null, settings, tx.now());
    const next = requireNextRun(settings, tx.now());
    const nextExecutionAt = status === 'active' ? next : null;
    const { id } = await insertTask(tx, caller, { ...settings, status, nextExecutionAt });
    return id;
  });
}

/** With the id that the sequence gave before, if others name it already. */
type NewTask = Settings & Pick<TaskRow, 'status' | 'nextExecutionAt'> & { id?: number };

/** Runs in the caller's transaction. Throws 409. */
export async function insertTask(ctx: Context, caller: Caller, values: NewTask): Promise<TaskRow> {
  const [task] = await insertTasks(ctx, caller, [values]);
  return task as TaskRow;
}

/** Some megabytes at most of usual prompts. */
const BATCH = 500;

/** Runs in the caller's transaction. Throws 409 for an external id that is taken. */
export async function insertTasks(
  ctx: Context,
  caller: Caller,
  created: readonly NewTask[],
  origin: { isImported?: boolean } = {},
): Promise<TaskRow[]> {
  const now = ctx.now();
  const rows: TaskRow[] = [];
  for (let at = 0; at < created.length; at += BATCH) {
    const batch = created.slice(at, at + BATCH);
    const inserted = await rejectTakenExternalId(
      insertRows(
        ctx,
        batch.map((values) => ({
          ...values,
          ...origin,
          overdueAt: computeOverdueAt(values),
          userId: caller.id,
          createdAt: now,
          updatedAt: now,
        })),
      ),
    );
    const counts = { executionCount: 0, plannedRuns: 0, lastExecutionAt: null, version: 1, usedVersion: null };
    for (const [index, values] of batch.entries()) {
      const row = inserted[index] as (typeof inserted)[number];
      rows.push({ ...values, ...counts, ...row, userId: caller.id, createdAt: now, updatedAt: now });
    }
  }
  for (const { id: taskId, userId, webhookUrl: url } of rows) {
    if (url !== null) await setTaskWebhook(ctx, { userId, taskId, url });
  }
  await requestConfirmations(
    ctx,
    caller.id,
    rows.flatMap(({ notificationEmail }) => notificationEmail ?? []),
  );
  recordEvents(
    ctx,
    rows.map(({ id, userId, name, prompt, recurrence, scheduledFor, status }) => ({
      kind: 'task.created',
      userId,
      taskId: id,
      data: { task: { id, name, prompt, recurrence, scheduledFor, status, createdAt: now } },
    })),
  );
  recordFirstVersions(ctx, rows);
  return rows;
}

/** All rows have the same fields. As JSON, because Drizzle takes longer for ten thousand rows than the database. */
function insertRows({ db }: Context, rows: readonly Record<string, unknown>[]) {
  const names = Object.keys(rows[0] ?? {}).map((field) => [field, tasks[field as 'id'].name] as const);
  const columns = sql.raw(names.map(([, name]) => `"${name}"`).join(', '));
  const values = rows.map((row) => Object.fromEntries(names.map(([field, name]) => [name, row[field]])));
  return queryRows<Pick<TaskRow, 'id' | 'externalId' | 'revision'>>(
    db,
    sql`insert into tasks (${columns}) overriding system value
      select ${columns} from json_populate_recordset(null::tasks, ${JSON.stringify(values)}::json)
      returning id, external_id, revision`,
  );
}

async function rejectTakenExternalId<T>(storing: Promise<T>): Promise<T> {
  try {
    return await storing;
  } catch (error) {
    if (violatedUnique(error) !== 'tasks_external_id') throw error;
    throw new AppError('conflict', 'Another of your tasks has this externalId.');
  }
}

/** What `overdue_at` depends on. */
const OVERDUE_FIELDS = ['status', 'nextExecutionAt', 'alerts', 'webhookUrl', 'notificationEmail', 'channels'];

/** If nothing changes, `updatedAt` stays and no event is recorded. Throws 400, 404, 412, and 402 over quota. */
export function changeTask(
  ctx: Context,
  caller: Caller,
  id: number,
  input: ChangeTaskInput,
  expected: ExpectedRevisions = null,
  { isRestored = false } = {},
): Promise<TaskRow> {
  return inTransaction(ctx, async (tx) => {
    const [before] = await tx.db
      .select(taskFields)
      .from(tasks)
      .where(and(eq(tasks.id, id), eq(tasks.userId, caller.id)))
      .for('no key update');
    if (!before) throw taskNotFound();
    assertRevision(before, expected);

    const after = await applyInput(tx, caller, before, input, tx.now());
    if (Object.keys(findChanges(before, after)).length === 0) return before;
    if (isResumed(before, after)) await reserveActiveTask(tx, caller);
    return storeChange(tx, caller, { before, after, given: Object.keys(input), isRestored });
  });
}

const isResumed = (before: TaskRow, after: TaskRow) => after.status === 'active' && before.status !== 'active';

interface Change {
  before: TaskRow;
  after: TaskRow;
  /** The fields that an event of the change names. */
  given: readonly string[];
  isRestored?: boolean;
}

/** Runs in the caller's transaction, which has locked the task. Throws 409 for an external id that is taken. */
export async function storeChange(
  tx: Context,
  caller: Caller,
  { before, after, given, isRestored = false }: Change,
  origin: { isImported?: boolean } = {},
): Promise<TaskRow> {
  const now = tx.now();
  const changes = findChanges(before, after);
  if (after.status === 'paused') await dropWaitingRetries(tx, after.id);
  if ('nextExecutionAt' in changes) {
    await markMissed(tx, before, now);
    await forgetSkips(tx, after);
  }
  const version = await recordVersion(tx, caller, before, after, { isRestored });
  const { id, revision: _revision, usedVersion: _used, ...columns } = { ...after, version, updatedAt: now };
  const changed = await rejectTakenExternalId(
    tx.db
      .update(tasks)
      .set({
        ...columns,
        ...origin,
        ...(isResumed(before, after)
          ? { consecutiveFailures: 0, waitingFailures: 0, notDoneInRow: 0, isFailingAlerted: false }
          : {}),
        ...(OVERDUE_FIELDS.some((field) => field in changes) ? { overdueAt: changedOverdueAt(after) } : {}),
      })
      .where(eq(tasks.id, id))
      .returning({ revision: tasks.revision }),
  );
  const { revision } = changed[0] as { revision: number };
  if ('sources' in changes) await forgetSources(tx, id, after.sources);
  if ('webhookUrl' in changes) await changeTaskWebhook(tx, after);
  const edited = Object.fromEntries(Object.entries(changes).filter(([field]) => given.includes(field)));
  const data = { task: { id, name: after.name, updatedAt: now }, changes: edited };
  recordEvents(tx, [{ kind: 'task.updated', userId: after.userId, taskId: id, data }]);
  return { ...after, version, updatedAt: now, revision };
}

/** The task after the change, which is not stored yet. Throws 400. */
async function applyInput(
  tx: Context,
  caller: Caller,
  before: TaskRow,
  input: ChangeTaskInput,
  now: Date,
): Promise<TaskRow> {
  const given = await toColumns(tx, caller, input);
  if (given.notificationEmail) await requestConfirmations(tx, caller.id, [given.notificationEmail]);
  const limited = { ...before, ...given };
  if (given.tools || given.aiModel || given.fallbackModels) await checkTools(tx, limited);
  if (given.tools || given.maxToolUses) checkToolUses(limited);
  if (given.tools || given.requireTools) checkRequiredTools(limited);
  if (given.sources || given.runIf) checkRunIf(limited);
  const after: TaskRow = { ...limited, ...nextState(before, input, limited, now) };
  if (isOver(before, after) && !(await hasLiveRun(tx, before))) after.status = 'completed';
  return after;
}

/** No run of an active task follows any more, since this change. */
const isOver = (before: TaskRow, after: TaskRow) =>
  after.status === 'active' && after.nextExecutionAt === null && before.nextExecutionAt !== null;

/** The fields that differ, with both values. */
export function findChanges(before: TaskRow, after: TaskRow) {
  const fields = Object.keys(before) as (keyof TaskRow)[];
  return Object.fromEntries(
    fields
      .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
      .map((field) => [field, { from: before[field], to: after[field] }]),
  );
}

async function changeTaskWebhook(ctx: Context, { id: taskId, userId, webhookUrl: url }: TaskRow) {
  if (url !== null) assertReachable(ctx, 'webhookUrl', url);
  await setTaskWebhook(ctx, { userId, taskId, url });
}

/** A paused task starts no scheduled retry. */
async function dropWaitingRetries(ctx: Context, taskId: number) {
  await ctx.db
    .delete(executions)
    .where(
      and(
        eq(executions.archived, false),
        eq(executions.taskId, taskId),
        eq(executions.status, 'pending'),
        isNull(executions.queuedAt),
      ),
    );
}
