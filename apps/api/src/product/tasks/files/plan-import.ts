import type { TaskStatus } from '@carillon/contract/tasks';
import type { FileTask } from '@carillon/contract/tasks/files';
import { type TaskInput, tasks } from '@carillon/db';
import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { invalidItem } from '../../../errors.ts';
import { assertReachable } from '../../deliveries/webhooks/managed-webhooks.ts';
import { repeatedInput } from '../../executions/request/inputs.ts';
import { countRunsLeft, nextRun, type Plan } from '../../schedule/next-run.ts';
import { type TaskRow, taskFields } from '../read.ts';
import { requireNextRun } from '../schedule.ts';
import { checkSettings, completeSettings, type Settings, toColumns } from '../settings.ts';
import { nextState } from '../state.ts';
import { findChanges } from '../write.ts';
import type { FileProblem } from './file-problem.ts';
import { type FileEntry, readDetails, toProblems } from './read-file.ts';
import { findUploads, lockChannels, toIds } from './references.ts';

type NewTask = Settings & Pick<TaskRow, 'status' | 'nextExecutionAt'>;

/** What an import does with a task of a file. */
export type Step =
  | { kind: 'create'; after: NewTask; nextRuns: Date[]; placeholder: number | undefined }
  | { kind: 'change'; before: TaskRow; after: TaskRow; nextRuns: Date[] }
  | { kind: 'leave'; before: TaskRow };

interface Known {
  /** New tasks that others read have negative ids until they are stored. */
  inputIds: ReadonlyMap<string, number>;
  tasks: ReadonlyMap<string, TaskRow>;
  toChannelIds: ReturnType<typeof toIds>;
  toUploadIds: ReturnType<typeof toIds>;
}

/** A transaction that is idle for seconds is ended, and others have their turn between two statements. */
const BATCH = 500;

/** In the order of the entries, without those that have a problem. Locks the tasks. */
export async function planImport(
  tx: Context,
  caller: Caller,
  entries: readonly FileEntry[],
  system: { defaultModel: string },
): Promise<{ steps: Step[]; problems: FileProblem[] }> {
  const named = new Set(entries.flatMap(({ task }) => task.attachments ?? []));
  const toChannelIds = toIds(await lockChannels(tx, caller), 'channels');
  const toUploadIds = toIds(await findUploads(tx, caller, named), 'attachments');
  const inputIds = await findInputs(tx, caller, entries);
  const steps: Step[] = [];
  const problems: FileProblem[] = [];
  for (let at = 0; at < entries.length; at += BATCH) {
    const batch = entries.slice(at, at + BATCH);
    const known = { inputIds, tasks: await lockTasks(tx, caller, batch), toChannelIds, toUploadIds };
    for (const entry of batch) {
      try {
        steps.push(await planStep(tx, caller, entry, known, system));
      } catch (error) {
        problems.push(...toProblems(readDetails(error), entry.findLine));
      }
    }
  }
  return { steps, problems };
}

async function lockTasks({ db }: Context, caller: Caller, entries: readonly FileEntry[]) {
  const ids = entries.flatMap(({ task: { externalId } }) => externalId ?? []);
  const rows = await db
    .select(taskFields)
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), inArray(tasks.externalId, ids)))
    .orderBy(asc(tasks.id))
    .for('no key update');
  return new Map(rows.map((row) => [row.externalId, row]));
}

/** The tasks that others read, by their external id. */
async function findInputs({ db }: Context, caller: Caller, entries: readonly FileEntry[]) {
  const named = [...new Set(entries.flatMap(({ task: { inputs = [] } }) => inputs.map(({ task }) => task)))];
  const found = new Map<string, number>();
  for (let at = 0; at < named.length; at += BATCH) {
    const rows = await db
      .select({ id: tasks.id, externalId: tasks.externalId })
      .from(tasks)
      .where(and(eq(tasks.userId, caller.id), inArray(tasks.externalId, named.slice(at, at + BATCH))));
    for (const { id, externalId } of rows) found.set(externalId, id);
  }
  const ofFile = new Set(entries.map(({ task }) => task.externalId));
  for (const [at, name] of named.entries()) if (!found.has(name) && ofFile.has(name)) found.set(name, -1 - at);
  return found;
}

function toInputs(given: FileTask['inputs'] = [], { inputIds }: Known): TaskInput[] {
  return given.map(({ task, name }, at) => {
    if (given.findIndex((other) => other.name === name) < at) throw repeatedInput(at);
    const taskId = inputIds.get(task);
    if (taskId === undefined) throw invalidItem('inputs', at, 'is not one of your tasks');
    return { taskId, name };
  });
}

async function planStep(
  tx: Context,
  caller: Caller,
  { task: { status, channels = [], attachments = [], inputs, ...task }, schedule }: FileEntry,
  known: Known,
  system: { defaultModel: string },
): Promise<Step> {
  const { toChannelIds, toUploadIds } = known;
  const before = task.externalId === undefined ? undefined : known.tasks.get(task.externalId);
  const given = await toColumns(tx, caller, { ...task, attachments: toUploadIds(attachments) });
  const stored = {
    ...given,
    channels: toChannelIds(channels),
    inputs: toInputs(inputs, known),
  };
  const settings = completeSettings({ ...stored, ...schedule }, system);
  if (settings.webhookUrl !== null && settings.webhookUrl !== before?.webhookUrl) {
    assertReachable(tx, 'webhookUrl', settings.webhookUrl);
  }
  await checkSettings(tx, settings);
  if (!before) {
    const placeholder = task.externalId === undefined ? undefined : known.inputIds.get(task.externalId);
    const after = { ...settings, ...startState(settings, status, tx.now()) };
    return { kind: 'create', after, nextRuns: listNextRuns(after, tx.now()), placeholder };
  }
  const limited = { ...before, ...settings };
  const after = { ...limited, ...changeState(before, schedule, limited, status, tx.now()) };
  return Object.keys(findChanges(before, after)).length === 0
    ? { kind: 'leave', before }
    : { kind: 'change', before, after, nextRuns: listNextRuns(after, tx.now()) };
}

function startState(settings: Settings, status: TaskStatus = 'paused', now: Date) {
  return { status, nextExecutionAt: status === 'active' ? requireNextRun(settings, now) : null };
}

const hasEnded = (status: TaskStatus) => status === 'completed' || status === 'failed';

/** How a task ended is not for a file to say, and a file that has not changed since must not be an error. */
function changeState(
  before: TaskRow,
  schedule: FileEntry['schedule'],
  limited: TaskRow,
  given: TaskStatus | undefined,
  now: Date,
) {
  const plan = { ...limited, ...schedule };
  const staysEnded = hasEnded(before.status) && nextRun(plan, now) === null;
  const status = given === undefined || hasEnded(given) || staysEnded ? before.status : given;
  const input = { ...schedule, scheduledFor: schedule.scheduledFor.toISOString(), status };
  return nextState(before, input, limited, now, { isImport: true });
}

const NEXT_RUNS = 3;

/** Those of a paused task as if it were resumed. */
function listNextRuns(task: Plan & { status: TaskStatus }, now: Date): Date[] {
  if (hasEnded(task.status)) return [];
  const runs: Date[] = [];
  const limit = Math.min(NEXT_RUNS, countRunsLeft(task));
  for (let run = nextRun(task, now); run !== null && runs.length < limit; run = nextRun(task, run)) runs.push(run);
  return runs;
}
