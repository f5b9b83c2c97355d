import { type SQL, sql } from 'drizzle-orm';

/** Triggers of the executions of planned instants: of each instant there is at most one, besides its retries. */
const PLANNED_TRIGGERS = ['schedule', 'backfill'];

export const isPlannedTrigger = (trigger: string): boolean => PLANNED_TRIGGERS.includes(trigger);

/** The same of the executions with this alias. The words are literal, so that the unique index of the instants is used. */
export const hasPlannedTrigger = (alias: string): SQL =>
  sql.raw(`${alias}.trigger in (${PLANNED_TRIGGERS.map((trigger) => `'${trigger}'`).join(', ')})`);
