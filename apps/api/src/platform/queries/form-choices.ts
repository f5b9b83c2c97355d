import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { isUuid } from '@carillon/contract/validation/formats';
import { queryRows, toInstant } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { selectChannelChoices } from './channel-choices.ts';

interface Found {
  files: { id: string; name: string; size: number; uploadedAt: string }[];
  channels: ChannelChoice[];
}

/** What a task can name, in one statement: the newest files and those with these ids, and all channels. */
export async function listFormChoices({ db }: Context, caller: Caller, fileIds: readonly string[]) {
  const [found] = await queryRows<Found>(
    db,
    sql`select ${selectAttachable(caller, fileIds)} as files, ${selectChannelChoices(sql`${caller.id}`)} as channels`,
  );
  const { files = [], channels = [] } = found ?? {};
  return { files: files.map((file) => ({ ...file, uploadedAt: toInstant(file.uploadedAt) })), channels };
}

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
