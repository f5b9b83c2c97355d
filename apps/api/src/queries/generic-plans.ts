import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';

/**
 * For the rest of the transaction, PostgreSQL plans each statement once for each connection. By default it may plan the
 * statements of the queue at every call, which takes longer than running them and finds the same plan.
 */
export async function useGenericPlans({ db }: Context): Promise<void> {
  await queryRows(db, sql`set local plan_cache_mode to force_generic_plan`);
}
