import type { EventData } from '@carillon/contract/events';
import { recordset, rows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { limitsOf } from '../limits/plans.ts';
import { dayOf, monthOf } from '../limits/quotas.ts';
import { notifyUsers } from '../notifications/notify.ts';
import { recordEvents } from '../webhooks/outbox.ts';
import { percentageOf } from './percentage.ts';

/** An alert, and what of a resource is used of the month. */
export interface Watched {
  alertId: number;
  userId: number;
  threshold: number;
  notifyEmail: boolean;
  notifyWebhook: boolean;
  plan: 'trial' | 'pro';
  role: 'USER' | 'ADMIN';
  maxTasksPerUser: number;
  maxExecutionsPerDay: number;
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
 * The rows `Watched` of the alerts that have not fired yet, for a statement that has at hand, as `counted`, what users
 * have used: `user_id`, `period`, `resource`, `used`. Where nobody has an alert it costs one look into an empty index.
 */
export const watched = (counted: SQL) => sql`
  select a.id as "alertId", a.user_id as "userId", a.threshold, a.notify_email as "notifyEmail",
    a.notify_webhook as "notifyWebhook", u.plan, u.role, s.max_tasks_per_user as "maxTasksPerUser",
    s.max_executions_per_day as "maxExecutionsPerDay", used.period, used.resource, used.used::float8 as used
  from (${counted}) used join usage_alerts a on a.user_id = used.user_id join users u on u.id = a.user_id
    cross join settings s
  where not exists (select from usage_alert_firings f
    where f.alert_id = a.id and f.period = used.period and f.resource = used.resource)`;

/**
 * Tells of the alerts whose threshold is reached: on the dashboard, and by mail and `usage.alert` where the alert says
 * so (specification "dashboard notification", decisions §8, §9). Call it in the transaction that books the usage; the
 * primary key of the firings decides between two that do so at once.
 */
export async function fireAlerts(ctx: Context, alerts: readonly Watched[]): Promise<void> {
  const reached = alerts
    .map((alert) => ({ ...alert, limit: limitsOf(alert, alert)[RESOURCES[alert.resource].limit] }))
    .filter(({ used, limit, threshold }) => used * 100 >= limit * threshold);
  if (reached.length === 0) return;
  const firings = reached.map(({ alertId, period, resource }) => ({ alert: alertId, period, resource }));
  const fired = await rows<Pick<Watched, 'alertId' | 'period' | 'resource'>>(
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

/** As `fireAlerts`, for whatever a user has used so far: storage, which no counter holds, among it. */
export async function fireReached(ctx: Context, userId: number): Promise<void> {
  const period = monthOf(dayOf(ctx.now()));
  const counted = sql`
    select ${userId}::int as user_id, ${period}::text as period, r.resource, r.used
    from (select ${userId}::int as id) who
      left join usage_counters c on c.user_id = who.id and c.period = ${period}
      cross join lateral (values ('executions', coalesce(c.executions, 0)::bigint), ('tokens', coalesce(c.tokens, 0)),
        ('storage', (select coalesce(sum(size), 0) from uploads where user_id = who.id))) r(resource, used)`;
  await fireAlerts(ctx, await rows<Watched>(ctx.db, watched(counted)));
}

const keyOf = ({ alertId, period, resource }: Pick<Watched, 'alertId' | 'period' | 'resource'>) =>
  `${alertId} ${period} ${resource}`;

async function tell(ctx: Context, reached: readonly (Watched & { limit: number })[]): Promise<void> {
  const told = reached.map((alert) => ({ ...alert, percentage: percentageOf(alert.used, alert.limit) }));
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
