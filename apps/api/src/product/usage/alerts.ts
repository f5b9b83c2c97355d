import type { EventData } from '@carillon/contract/webhooks/events';
import { queryRows, recordset } from '@carillon/db';
import { getTexts, type Language } from '@carillon/texts';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { recordEvents } from '../../platform/events/outbox.ts';
import { getPlanLimits, type PlanRow, planColumnsSql } from '../../platform/limits/plan-limits.ts';
import { toUtcDay, toUtcMonth } from '../../platform/limits/quotas.ts';
import { notifyUsers } from '../notifications/write.ts';
import { toPercentage } from './read.ts';

/** An alert that has not fired yet for a resource and a month, with what is used of that resource. */
interface AlertState extends PlanRow {
  alertId: number;
  userId: number;
  language: Language;
  threshold: number;
  notifyEmail: boolean;
  notifyWebhook: boolean;
  period: string;
  resource: 'executions' | 'tokens' | 'storage';
  used: number;
}

const LIMITS = {
  executions: 'executionsPerMonth',
  tokens: 'tokensPerMonth',
  storage: 'uploadBytes',
} as const;

/** Fires the alerts that counters of a month have reached; the transaction of the caller has increased and locked them. */
export async function checkCounterAlerts(
  ctx: Context,
  counters: readonly { userId: number; period: string }[],
): Promise<void> {
  if (counters.length === 0) return;
  const used = sql`
    select c.user_id, c.period, r.resource, r.used
    from usage_counters c
      join ${recordset('d', counters, { userId: 'int', period: 'text' })}
        on c.user_id = d.user_id and c.period = d.period
      cross join lateral (values ('executions', c.executions::bigint), ('tokens', c.tokens)) r(resource, used)`;
  await fireReached(ctx, await listAlertStates(ctx, used));
}

/** Fires the alerts that a user has reached in any resource, storage included. */
export async function checkAlerts(ctx: Context, userId: number): Promise<void> {
  const period = toUtcMonth(toUtcDay(ctx.now()));
  const used = sql`
    select ${userId}::int as user_id, ${period}::text as period, r.resource, r.used
    from (select ${userId}::int as id) u
      left join usage_counters c on c.user_id = u.id and c.period = ${period}
      left join upload_totals t on t.user_id = u.id
      cross join lateral (values ('executions', coalesce(c.executions, 0)::bigint), ('tokens', coalesce(c.tokens, 0)),
        ('storage', coalesce(t.bytes, 0))) r(resource, used)`;
  await fireReached(ctx, await listAlertStates(ctx, used));
}

/** `used` selects `user_id`, `period`, `resource` and `used`. */
const listAlertStates = (ctx: Context, used: SQL) =>
  queryRows<AlertState>(
    ctx.db,
    sql`
    select a.id as alert_id, a.user_id, u.language, a.threshold, a.notify_email,
      a.notify_webhook, ${planColumnsSql}, used.period, used.resource, used.used::float8 as used
    from (${used}) used join usage_alerts a on a.user_id = used.user_id join users u on u.id = a.user_id
      cross join settings s
    where not exists (select from usage_alert_firings f
      where f.alert_id = a.id and f.period = used.period and f.resource = used.resource)`,
  );

/** The primary key of the firings decides between two transactions that reach a threshold at the same time. */
async function fireReached(ctx: Context, states: readonly AlertState[]): Promise<void> {
  const reached = states
    .map((state) => ({ ...state, limit: getPlanLimits(state)[LIMITS[state.resource]] }))
    .filter(({ used, limit, threshold }) => used * 100 >= limit * threshold);
  if (reached.length === 0) return;
  const firings = reached.map(({ alertId, period, resource }) => ({ alertId, period, resource }));
  const fired = await queryRows<FiringKey>(
    ctx.db,
    sql`
    insert into usage_alert_firings (alert_id, period, resource, fired_at)
    select a.id, f.period, f.resource, ${ctx.now().toISOString()}::timestamptz
    from ${recordset('f', firings, { alertId: 'int', period: 'text', resource: 'text' })}
      join usage_alerts a on a.id = f.alert_id
    order by a.id, f.period, f.resource
    on conflict do nothing
    returning alert_id, period, resource`,
  );
  const keys = new Set(fired.map(toKey));
  await notifyOwners(
    ctx,
    reached.filter((state) => keys.has(toKey(state))),
  );
}

type FiringKey = Pick<AlertState, 'alertId' | 'period' | 'resource'>;
const toKey = ({ alertId, period, resource }: FiringKey) => `${alertId} ${period} ${resource}`;

/** Notifies on the dashboard, and by mail and by `usage.alert` as the alert says. */
async function notifyOwners(ctx: Context, reached: readonly (AlertState & { limit: number })[]): Promise<void> {
  const alerts = reached.map((alert) => ({ ...alert, percentage: toPercentage(alert.used, alert.limit) }));
  recordEvents(
    ctx,
    alerts.map(({ userId, notifyWebhook, resource, threshold, percentage, used, limit, period }) => {
      const data: EventData<'usage.alert'> = { resource, threshold, percentage, used, limit, period };
      return { kind: 'usage.alert' as const, userId, data, isUnsent: !notifyWebhook };
    }),
  );
  await notifyUsers(
    ctx,
    alerts.map(({ userId, language, notifyEmail, threshold, resource, used, limit, percentage }) => {
      const { notices, formats } = getTexts(language);
      const toText = resource === 'storage' ? formats.bytes : formats.number;
      const title = notices.usage(formats.percent(threshold / 100), resource);
      const message = notices.usageText(toText(used), toText(limit), resource, formats.percent(percentage / 100));
      return { userId, kind: 'usage.alert', title, message, path: '/usage', byMail: notifyEmail };
    }),
  );
}
