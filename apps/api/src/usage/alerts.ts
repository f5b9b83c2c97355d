import type { EventData } from '@carillon/contract/events';
import { queryRows, recordset } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { recordEvents } from '../events/outbox.ts';
import { getPlanLimits, type PlanRow, planColumnsSql } from '../limits/plan-limits.ts';
import { toUtcDay, toUtcMonth } from '../limits/quotas.ts';
import { notifyUsers } from '../notifications/write.ts';
import { toPercentage } from './percentage.ts';

/** An alert, and what of a resource is used of the month. */
interface Watched extends PlanRow {
  alertId: number;
  userId: number;
  threshold: number;
  notifyEmail: boolean;
  notifyWebhook: boolean;
  period: string;
  resource: 'executions' | 'tokens' | 'storage';
  used: number;
}

const RESOURCES = {
  executions: { limit: 'executionsPerMonth', unit: 'executions of this month' },
  tokens: { limit: 'tokensPerMonth', unit: 'tokens of this month' },
  storage: { limit: 'uploadBytes', unit: 'bytes of storage' },
} as const;

/**
 * Tells of the alerts of users whose counters of a month have been raised by the caller's transaction, which holds them
 * locked (decisions §8, §9).
 */
export async function fireRaised(ctx: Context, counters: readonly { userId: number; period: string }[]): Promise<void> {
  if (counters.length === 0) return;
  const counted = sql`
    select c.user_id, c.period, r.resource, r.used
    from usage_counters c
      join jsonb_to_recordset(${recordset(counters)}::jsonb) as d("userId" int, period text)
        on c.user_id = d."userId" and c.period = d.period
      cross join lateral (values ('executions', c.executions::bigint), ('tokens', c.tokens)) r(resource, used)`;
  await fire(ctx, await findWatched(ctx, counted));
}

/** Tells of the alerts that a user has reached so far in any resource: storage, which no month counts, among them. */
export async function checkAlerts(ctx: Context, userId: number): Promise<void> {
  const period = toUtcMonth(toUtcDay(ctx.now()));
  const counted = sql`
    select ${userId}::int as user_id, ${period}::text as period, r.resource, r.used
    from (select ${userId}::int as id) who
      left join usage_counters c on c.user_id = who.id and c.period = ${period}
      left join upload_totals t on t.user_id = who.id
      cross join lateral (values ('executions', coalesce(c.executions, 0)::bigint), ('tokens', coalesce(c.tokens, 0)),
        ('storage', coalesce(t.bytes, 0))) r(resource, used)`;
  await fire(ctx, await findWatched(ctx, counted));
}

/** The alerts that have not fired yet, with what `counted` says is used: `user_id`, `period`, `resource`, `used`. */
const findWatched = (ctx: Context, counted: SQL) =>
  queryRows<Watched>(
    ctx.db,
    sql`
    select a.id as "alertId", a.user_id as "userId", a.threshold, a.notify_email as "notifyEmail",
      a.notify_webhook as "notifyWebhook", ${planColumnsSql},
      used.period, used.resource, used.used::float8 as used
    from (${counted}) used join usage_alerts a on a.user_id = used.user_id join users u on u.id = a.user_id
      cross join settings s
    where not exists (select from usage_alert_firings f
      where f.alert_id = a.id and f.period = used.period and f.resource = used.resource)`,
  );

/** The primary key of the firings decides between two transactions that have reached a threshold at once. */
async function fire(ctx: Context, alerts: readonly Watched[]): Promise<void> {
  const reached = alerts
    .map((alert) => ({ ...alert, limit: getPlanLimits(alert)[RESOURCES[alert.resource].limit] }))
    .filter(({ used, limit, threshold }) => used * 100 >= limit * threshold);
  if (reached.length === 0) return;
  const firings = reached.map(({ alertId, period, resource }) => ({ alert: alertId, period, resource }));
  const fired = await queryRows<Pick<Watched, 'alertId' | 'period' | 'resource'>>(
    ctx.db,
    sql`
    insert into usage_alert_firings (alert_id, period, resource, fired_at)
    select a.id, f.period, f.resource, ${ctx.now().toISOString()}::timestamptz
    from jsonb_to_recordset(${recordset(firings)}::jsonb) as f(alert int, period text, resource text)
      join usage_alerts a on a.id = f.alert
    order by a.id, f.period, f.resource
    on conflict do nothing
    returning alert_id as "alertId", period, resource`,
  );
  const keys = new Set(fired.map(keyOf));
  await tell(
    ctx,
    reached.filter((one) => keys.has(keyOf(one))),
  );
}

const keyOf = ({ alertId, period, resource }: Pick<Watched, 'alertId' | 'period' | 'resource'>) =>
  `${alertId} ${period} ${resource}`;

/** On the dashboard always, by mail and `usage.alert` where the alert says so. */
async function tell(ctx: Context, reached: readonly (Watched & { limit: number })[]): Promise<void> {
  const told = reached.map((alert) => ({ ...alert, percentage: toPercentage(alert.used, alert.limit) }));
  await Promise.all([
    notifyUsers(
      ctx,
      told.map(({ userId, notifyEmail, threshold, resource, used, limit, percentage }) => ({
        userId,
        kind: 'usage.alert',
        title: `${threshold} % of your ${resource} are used`,
        message: `${used} of ${limit} ${RESOURCES[resource].unit} are used, which is ${percentage} %.`,
        byMail: notifyEmail,
      })),
    ),
    recordEvents(
      ctx,
      told
        .filter(({ notifyWebhook }) => notifyWebhook)
        .map(({ userId, resource, threshold, percentage, used, limit, period }) => {
          const data: EventData<'usage.alert'> = { resource, threshold, percentage, used, limit, period };
          return { kind: 'usage.alert' as const, userId, data };
        }),
    ),
  ]);
}
