import { FileTask, type FileType } from '@carillon/contract/tasks/files';
import { type TaskInput, tasks } from '@carillon/db';
import { and, asc, eq, gt, inArray } from 'drizzle-orm';
import { stringify } from 'yaml';
import type { Caller, Context } from '../../../context.ts';
import { TASK_FILES, userKey } from '../../../platform/limits/rates.ts';
import { assertRateLimit } from '../../../platform/limits/windows.ts';
import { listDefaults, type Settings, settingColumns } from '../settings.ts';
import { findNamesakes, listChannels, type NamedThing, toNames } from './references.ts';

const PAGE = 100;

/** The file in pieces, so that only some tasks are in memory at a time. Throws 429. */
export async function exportTasks(ctx: Context, caller: Caller, type: FileType): Promise<AsyncIterable<string>> {
  const first = await readTaskFile(ctx, caller, { type });
  return readPieces(ctx, caller, type, first);
}

async function* readPieces(ctx: Context, caller: Caller, type: FileType, first: Piece): AsyncGenerator<string> {
  yield first.text;
  for (let { after } = first; after !== null; ) {
    const piece = await readTaskFile(ctx, caller, { type, after });
    yield piece.text;
    after = piece.after;
  }
}

interface Piece {
  text: string;
  /** Where the next piece begins; null at the end. */
  after: number | null;
}

/** A piece of the file. The first one throws 429. */
export async function readTaskFile(
  ctx: Context,
  caller: Caller,
  { type, after = 0 }: { type: FileType; after?: number },
): Promise<Piece> {
  if (after === 0) await assertRateLimit(ctx, TASK_FILES, userKey(TASK_FILES, caller.id));
  const channels = await listChannels(ctx, caller);
  const rows = await ctx.db
    .select({ id: tasks.id, status: tasks.status, ...settingColumns })
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), gt(tasks.id, after)))
    .orderBy(asc(tasks.id))
    .limit(PAGE);
  const uploads = await findNamesakes(ctx, caller, [...new Set(rows.flatMap(({ attachments }) => attachments))]);
  const inputs = await nameInputs(ctx, caller, rows);
  const texts = rows.map((row) => write(toFileTask({ ...row, inputs: inputs(row) }, channels, uploads), type));
  const isEmpty = after === 0 && rows.length === 0 && type === 'yaml';
  const last = rows.length === PAGE ? rows.at(-1) : undefined;
  return { text: isEmpty ? '[]\n' : texts.join(''), after: last?.id ?? null };
}

/** Returns a function from a task to its inputs by external id, without those that are deleted. */
async function nameInputs({ db }: Context, caller: Caller, rows: readonly { inputs: TaskInput[] }[]) {
  const ids = [...new Set(rows.flatMap(({ inputs }) => inputs.map(({ taskId }) => taskId)))];
  const found =
    ids.length === 0
      ? []
      : await db
          .select({ id: tasks.id, externalId: tasks.externalId })
          .from(tasks)
          .where(and(eq(tasks.userId, caller.id), inArray(tasks.id, ids)));
  const names = new Map(found.map(({ id, externalId }) => [id, externalId]));
  return ({ inputs }: { inputs: TaskInput[] }) =>
    inputs.flatMap(({ taskId, name }) => (names.has(taskId) ? { task: names.get(taskId), name } : []));
}

function write(task: Record<string, unknown>, type: FileType): string {
  if (type === 'jsonl') return `${JSON.stringify(task)}\n`;
  return stringify([task], { lineWidth: 0, aliasDuplicateObjects: false });
}

type Row = Partial<Pick<Settings, 'channels' | 'attachments'>> & Record<string, unknown>;

const FIELDS = Object.keys(FileTask.properties);

/** Without the fields that have their default. */
function toFileTask(row: Row, channels: readonly NamedThing[], uploads: readonly NamedThing[]) {
  const values: Record<string, unknown> = {
    ...row,
    channels: toNames(channels)(row.channels ?? []),
    attachments: toNames(uploads)(row.attachments ?? []),
  };
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = values[field] instanceof Date ? values[field].toISOString() : values[field];
      const isDefault = field in DEFAULTS && JSON.stringify(value) === JSON.stringify(DEFAULTS[field]);
      return isDefault ? [] : [[field, value]];
    }),
  );
}

/** The default model of the system may change, so that each task names its own. */
const {
  externalId: _externalId,
  aiModel: _aiModel,
  ...DEFAULTS
}: Record<string, unknown> = {
  ...listDefaults({ defaultModel: null }),
  recurrencePattern: null,
  interval: 1,
};
