import { type SQL, sql } from 'drizzle-orm';

/** Whether a user may send mail to an address: it is confirmed, or the verified one of the account. */
export const isConfirmedSql = (owner: SQL, address: SQL): SQL<boolean> => sql`(exists (
    select from notification_addresses a
    where a.user_id = ${owner} and a.email = ${address} and a.confirmed_at is not null)
  or exists (select from users u where u.id = ${owner} and u.email = ${address} and u.email_verified_at is not null))`;
