import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { isUuid } from '@carillon/contract/validation/formats';
import { queryRows, toInstant } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { selectChannelChoices } from './channel-choices.ts';
import { selectLatestRuns } from './runs.ts';

interface Found {
  files: { id: string; name: string; size: number; uploadedAt: string }[];
  channels: ChannelChoice[];
  secrets: { name: string; host: string }[];
  tasks: { id: number; name: string }[];
  /** The latest ones that have started, of the task that is opened. */
  runs: { id: number; at: string }[];
}

interface OpenedTask {
  id: number;
  inputs: readonly { taskId: number }[];
}

/** What a task can name, in one statement: the newest files and tasks, those with these ids, all channels and secrets. */
export async function listFormChoices(
  { db }: Context,
  caller: Caller,
  fileIds: readonly string[],
  task: OpenedTask | null = null,
) {
  const [found] = await queryRows<Found>(
    db,
    sql`select ${selectAttachable(caller, fileIds)} as files, ${selectChannelChoices(sql`${caller.id}`)} as channels,
      ${selectSecrets(caller)} as secrets, ${selectReadable(caller, task?.inputs ?? [])} as tasks, ${task ? selectStarted(caller, task.id) : sql`'[]'::json`} as runs`,
  );
  const { files = [], channels = [], secrets = [], tasks = [], runs = [] } = found ?? {};
  const dated = files.map((file) => ({ ...file, uploadedAt: toInstant(file.uploadedAt) }));
  return { files: dated, channels, secrets, tasks, runs };
}

const NEWEST_TASKS = 200;

/** The newest tasks and those of the inputs, by name, as JSON. */
function selectReadable({ id }: Caller, inputs: OpenedTask['inputs']): SQL {
  const named = `{${inputs.map(({ taskId }) => taskId).join(',')}}`;
  return sql`(
    select coalesce(json_agg(json_build_object('id', t.id, 'name', t.name) order by lower(t.name), t.id), '[]')
    from tasks t where t.user_id = ${id} and (t.id = any(${named}::int[]) or t.id in (
      select n.id from tasks n where n.user_id = ${id} order by n.id desc limit ${NEWEST_TASKS})))`;
}

const LATEST_RUNS = 10;

const selectStarted = ({ id }: Caller, taskId: number): SQL => sql`(
  select coalesce(json_agg(json_build_object('id', e.id, 'at', coalesce(e.planned_for, e.created_at)) order by e.id desc)
    filter (where e.started_at is not null and e.user_id = ${id}), '[]')
  from (${selectLatestRuns(sql`${taskId}::int`, LATEST_RUNS)}) e)`;

const selectSecrets = ({ id }: Caller): SQL => sql`(
  select coalesce(json_agg(json_build_object('name', s.name, 'host', s.host) order by s.name), '[]')
  from secrets s where s.user_id = ${id})`;

const NEWEST_FILES = 8;

/** The caller's files with these ids, and the newest ones, newest first, as JSON. */
function selectAttachable(caller: Caller, ids: readonly string[]): SQL {
  const named = `{${ids.filter(isUuid).join(',')}}`;
  return sql`(
    select coalesce(json_agg(json_build_object('id', u.id, 'name', u.name, 'size', u.size, 'uploadedAt', u.uploaded_at)
      order by u.uploaded_at desc, u.id desc), '[]')
    from uploads u where u.user_id = ${caller.id} and (u.id = any(${named}::uuid[]) or u.id in (
      select n.id from uploads n where n.user_id = ${caller.id} order by n.uploaded_at desc, n.id desc limit ${NEWEST_FILES})))`;
}
