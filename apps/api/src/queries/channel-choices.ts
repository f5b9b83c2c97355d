import { type SQL, sql } from 'drizzle-orm';
import { isConfirmedSql } from './confirmed-address.ts';

/** Whether `c`, a row of webhooks, is a mailbox whose link was not opened. */
const isUnconfirmed = sql`c.kind = 'email' and not ${isConfirmedSql(sql`c.user_id`, sql`c.shown_settings->>'address'`)}`;

/** The channels of an account as JSON, oldest first: there are few. `only` is a condition on `c`. */
export const selectChannelChoices = (userId: SQL, only: SQL = sql`true`): SQL => sql`(
  select coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'kind', c.kind, 'state',
      case when c.status = 'failed' then 'failed' when ${isUnconfirmed} then 'unconfirmed'
        when c.status = 'inactive' then 'off' else 'on' end) order by c.created_at, c.id), '[]')
  from webhooks c where c.user_id = ${userId} and c.purpose = 'channel' and ${only})`;
