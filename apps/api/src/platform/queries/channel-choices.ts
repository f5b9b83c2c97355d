import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { isUuid } from '@carillon/contract/validation/formats';
import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';

/** Whether a user may send mail to an address: it is confirmed, or the verified one of the account. */
export const isConfirmedSql = (owner: SQL, address: SQL): SQL<boolean> => sql`(exists (
    select from notification_addresses a
    where a.user_id = ${owner} and a.email = ${address} and a.confirmed_at is not null)
  or exists (select from users u where u.id = ${owner} and u.email = ${address} and u.email_verified_at is not null))`;

/** Whether `c`, a row of webhooks, is a mailbox whose link was not opened. */
const isUnconfirmed = sql`c.kind = 'email' and not ${isConfirmedSql(sql`c.user_id`, sql`c.shown_settings->>'address'`)}`;

/** The channels of an account as JSON, oldest first: there are few. `only` is a condition on `c`. */
export const selectChannelChoices = (userId: SQL, only: SQL = sql`true`): SQL => sql`(
  select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'kind', c.kind, 'state',
      case when c.status = 'failed' then 'failed' when ${isUnconfirmed} then 'unconfirmed'
        when c.status = 'inactive' then 'off' else 'on' end) order by c.created_at, c.id), '[]')
  from endpoints c where c.user_id = ${userId} and c.purpose = 'channel' and ${only})`;

/** The caller's channels with these ids. */
export async function listChannelChoices(
  { db }: Context,
  { id }: Caller,
  ids: readonly string[],
): Promise<ChannelChoice[]> {
  if (ids.length === 0) return [];
  const named = `{${ids.filter(isUuid).join(',')}}`;
  const [found] = await queryRows<{ channels: ChannelChoice[] }>(
    db,
    sql`select ${selectChannelChoices(sql`${id}`, sql`c.id = any(${named}::uuid[])`)} as channels`,
  );
  return found?.channels ?? [];
}
