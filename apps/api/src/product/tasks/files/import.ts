import { FileTask, type FileType, type ImportResult, type ImportTasksQuery } from '@carillon/contract/tasks/files';
import { queryRows, tasks } from '@carillon/db';
import { and, asc, eq, sql } from 'drizzle-orm';
import pLimit from 'p-limit';
import type { Caller, Context } from '../../../context.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { lockPlanLimits, type PlanLimits } from '../../../platform/limits/plan-limits.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { TASK_FILES, userKey } from '../../../platform/limits/rates.ts';
import { assertRateLimit } from '../../../platform/limits/windows.ts';
import { inTransaction } from '../../../transaction.ts';
import { deleteTask } from '../delete.ts';
import type { TaskRow } from '../read.ts';
import { insertTasks, storeChange } from '../write.ts';
import { FileProblem, invalidFile, toFileError } from './file-problem.ts';
import { planImport, type Step } from './plan-import.ts';
import { MAX_PROBLEMS, readFile } from './read-file.ts';

interface Source extends ImportTasksQuery {
  text: string;
  type: FileType;
  /** Called in the transaction. */
  onStored?: (tx: Context, result: Result) => Promise<void>;
}

type Result = Omit<ImportResult, 'success'>;

/** A file of the maximum size takes some seconds of the processor. */
const takeTurn = pLimit(1);

/**
 * Makes the tasks those of the file, all or none. The user stays locked, so that imports of one user follow each other. Throws
 * 400 with `errors`, unless `dryRun`, 402 over the quota of active tasks, and 429.
 */
export async function importTasks(ctx: Context, caller: Caller, source: Source): Promise<Result> {
  const { dryRun, prune, onStored } = source;
  await assertRateLimit(ctx, TASK_FILES, userKey(TASK_FILES, caller.id));
  const file = await takeTurn(() => readFile(source.text, source.type));
  return inTransaction({ ...ctx, via: 'import' }, async (tx) => {
    const { limits, defaultModel } = await lockPlanLimits(tx, caller.id);
    const { steps, problems } = await planImport(tx, caller, file.entries, { defaultModel });
    const all = [...file.problems, ...problems];
    if (prune && file.entries.length === 0 && all.length === 0) {
      all.push(new FileProblem(1, 'must have a task, so that not all are pruned'));
    }
    const errors = all
      .sort((a, b) => a.line - b.line)
      .slice(0, MAX_PROBLEMS)
      .map(toFileError);
    if (errors.length > 0 && !dryRun) throw invalidFile(errors);
    const pruned = prune && errors.length === 0 ? await listPruned(tx, caller, steps) : [];
    await assertQuota(tx, caller, limits, steps, pruned);
    if (!dryRun) await store(tx, caller, steps, pruned);
    const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
    const result = {
      created: count('create'),
      updated: count('change'),
      unchanged: count('leave'),
      deleted: pruned.length,
      errors,
      preview: steps.flatMap((step) => (step.kind === 'leave' ? [] : toPreview(step))),
    };
    await onStored?.(tx, result);
    return result;
  });
}

const toPreview = ({ after: { name }, nextRuns }: Exclude<Step, { kind: 'leave' }>) => ({ name, nextRuns });

interface Pruned {
  id: number;
  status: string;
}

/** The tasks of earlier imports that the file lacks. */
async function listPruned({ db }: Context, caller: Caller, steps: readonly Step[]): Promise<Pruned[]> {
  const found = await db
    .select({ id: tasks.id, status: tasks.status })
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), eq(tasks.isImported, true)))
    .orderBy(asc(tasks.id));
  const kept = new Set(steps.map((step) => (step.kind === 'create' ? null : step.before.id)));
  return found.filter(({ id }) => !kept.has(id));
}

/** Throws 402 for an import after which more tasks are active than before, and more than allowed. */
async function assertQuota(
  { db }: Context,
  caller: Caller,
  { activeTasks: limit }: PlanLimits,
  steps: readonly Step[],
  pruned: readonly Pruned[],
): Promise<void> {
  const isActive = ({ status }: { status: string }) => (status === 'active' ? 1 : 0);
  let more = 0;
  for (const step of steps) {
    if (step.kind === 'create') more += isActive(step.after);
    if (step.kind === 'change') more += isActive(step.after) - isActive(step.before);
  }
  for (const task of pruned) more -= isActive(task);
  if (more <= 0) return;
  const used = await db.$count(tasks, and(eq(tasks.userId, caller.id), eq(tasks.status, 'active')));
  if (used + more > limit) throw quotaExceededError({ resource: 'activeTasks', used, limit, resetAt: null });
}

/** The ids of the new tasks if others read one of them; empty otherwise. */
async function reserveIds(tx: Context, creations: readonly { placeholder: number | undefined }[]): Promise<number[]> {
  if (creations.every(({ placeholder }) => placeholder === undefined)) return [];
  const rows = await queryRows<{ id: number }>(
    tx.db,
    sql`select nextval(pg_get_serial_sequence('tasks', 'id'))::int as id
      from generate_series(1, ${creations.length}::int)`,
  );
  return rows.map(({ id }) => id);
}

const FIELDS = Object.keys(FileTask.properties);

async function store(tx: Context, caller: Caller, steps: readonly Step[], pruned: readonly Pruned[]): Promise<void> {
  for (const { id } of pruned) await deleteTask(tx, caller, id);
  const creations = steps.filter((step) => step.kind === 'create');
  const ids = await reserveIds(tx, creations);
  const inputIds = new Map(creations.map(({ placeholder }, at) => [placeholder, ids[at]]));
  const withInputs = <T extends Pick<TaskRow, 'inputs'>>(after: T): T => ({
    ...after,
    inputs: after.inputs.map(({ taskId, name }) => ({ taskId: inputIds.get(taskId) ?? taskId, name })),
  });
  const created = creations.map(({ after }, at) => ({ ...withInputs(after), ...(ids[at] && { id: ids[at] }) }));
  await insertTasks(tx, caller, created, { isImported: true });
  let changed = 0;
  for (const step of steps) {
    if (step.kind !== 'change') continue;
    changed += 1;
    const after = withInputs(step.after);
    await storeChange(tx, caller, { before: step.before, after, given: FIELDS }, { isImported: true });
  }
  if (created.length + changed + pruned.length === 0) return;
  const details = { created: created.length, updated: changed, deleted: pruned.length };
  await recordAudit(tx, { kind: 'task.imported', ...describeActor(caller), details });
}
