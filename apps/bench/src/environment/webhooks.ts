import type { Db } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { callAs } from './client.ts';
import type { Person } from './people.ts';

/** Subscribes each of the people to `task.created` at each of the addresses, through the API, which seals the secrets. */
export async function subscribe(apiUrl: string, people: readonly Person[], urls: readonly string[]): Promise<void> {
  for (const person of people) {
    for (const url of urls) await callAs(person, `${apiUrl}/api/webhooks`, { url, events: ['task.created'] });
  }
}

/** The same rows for a baseline that signs with a secret of its own. */
export async function addWebhooks(db: Db, urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    await db.execute(sql`
      insert into webhooks (id, user_id, url, secret_sealed, secret_lookup, events, last_attempt_ok, created_at, updated_at)
      select k, id, ${url}, '', 'none:' || k, '{task.created}', true, now(), now()
      from users cross join lateral (select gen_random_uuid() as k where users.id > 0) u`);
  }
}
