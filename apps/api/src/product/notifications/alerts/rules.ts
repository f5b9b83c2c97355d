import type { AlertRules } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';

/** Of a task whose alerts reach a webhook, a channel or an address of its own. */
const DEFAULT_RULES = { overdueMinutes: 15, failuresInRow: 3 } satisfies AlertRules;
const NO_RULES: AlertRules = {};

interface RuleSettings {
  /** Null for the default rules. */
  alerts: AlertRules | null;
  /** Whether it has a webhook or a channel. */
  hasWebhook: boolean;
  notificationEmail: string | null;
}

export function getEffectiveRules({ alerts, hasWebhook, notificationEmail }: RuleSettings): AlertRules {
  return alerts ?? (hasWebhook || notificationEmail !== null ? DEFAULT_RULES : NO_RULES);
}

const defaultMinutes = sql.raw(String(DEFAULT_RULES.overdueMinutes));

/** The same rule `overdueMinutes` in SQL, for the row `t` of `tasks`; null if it is off. */
export const overdueMinutesSql = (t: SQL): SQL => sql`case
  when ${t}.alerts is not null then (${t}.alerts ->> 'overdueMinutes')::int
  when ${t}.webhook_url is not null or ${t}.notification_email is not null or ${t}.channels <> '{}' then ${defaultMinutes} end`;
