import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import {
  alerts,
  apiKeys,
  apiKeyUsage,
  deliveries,
  deliveryAttempts,
  endpoints,
  executions,
  mails,
  notifications,
  usageAlerts,
  usageCounters,
  usageRecords,
} from '@carillon/db';
import { and, asc, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../src/context.ts';
import { createWebhook } from '../../src/product/deliveries/webhooks/write.ts';
import { SAMPLE_NOW, type Sample } from './sample.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** From one attempt to the next. */
const WAITS = [0, 1, 5, 15, 60].map((minutes) => minutes * MINUTE_MS);

const ago = (ms: number) => new Date(SAMPLE_NOW.getTime() - ms);

interface Sent {
  webhookId: string;
  url: string;
  event: EventKind;
  at: Date;
  /** The answers to the attempts; null without one. */
  answers: readonly (number | null)[];
  isPending?: boolean;
}

/** Inserts a delivery with its attempts. Returns its id. */
async function insertDelivery(
  { db }: Context,
  { webhookId, url, event, at, answers, isPending }: Sent,
): Promise<string> {
  const id = randomUUID();
  const isDelivered = (answers.at(-1) ?? 500) < 300;
  let attemptedAt = at;
  const attempts = answers.map((statusCode, index) => {
    attemptedAt = new Date(attemptedAt.getTime() + (WAITS[index] ?? 0));
    const success = statusCode !== null && statusCode < 300;
    const error =
      statusCode === null ? 'The receiver did not answer within 30 s.' : `The receiver answered ${statusCode}.`;
    const responseTimeMs = statusCode === null ? 30_000 : 40 + ((at.getTime() / 1000) % 97);
    const row = { id: randomUUID(), deliveryId: id, webhookId, event, url, attempt: index + 1, attemptedAt };
    return { ...row, success, statusCode, error: success ? null : error, responseTimeMs: Math.round(responseTimeMs) };
  });
  const timestamp = at.toISOString();
  const data = {
    task: { id: 4, name: 'Nightly error digest', status: 'active' },
    execution: { id: 48_213, status: 'failed' },
  };
  const nextAttemptAt = new Date(attemptedAt.getTime() + (WAITS[answers.length] ?? 0));
  await db.insert(deliveries).values({
    id,
    webhookId,
    event,
    payload: JSON.stringify({ event, timestamp, webhookId, userId: 1, data }),
    requestId: randomUUID(),
    attempt: answers.length,
    createdAt: at,
    ...(isPending
      ? { status: 'pending' as const, nextAttemptAt }
      : { status: isDelivered ? ('delivered' as const) : ('failed' as const), endedAt: attemptedAt }),
  });
  await db.insert(deliveryAttempts).values(attempts);
  return id;
}

const CAUSE = 'Last error: The receiver answered 502.';

/** Adds deliveries, notifications, a ledger and an API key to the sample of a user. Returns ids. */
export async function insertActivity(ctx: Context, userId: number, sample: Pick<Sample, 'webhook' | 'tasks'>) {
  const caller = { id: userId } as Caller;
  const failing = { webhookId: sample.webhook, url: 'https://hooks.gartenhof.example/carillon' };
  for (let at = 12; at > 1; at -= 1) {
    await insertDelivery(ctx, { ...failing, event: 'task.failed', at: ago(at * 20 * HOUR_MS), answers: [200] });
  }
  const delivery = await insertDelivery(ctx, {
    ...failing,
    event: 'task.failed',
    at: ago(12 * HOUR_MS),
    answers: [502, 502, null, 502, 502],
  });
  const chat = { url: 'https://chat.example.org/hooks/carillon', events: ['execution.completed', 'execution.failed'] };
  const { id: webhookId, url } = await createWebhook(ctx, caller, {
    ...chat,
    events: chat.events as EventKind[],
    description: 'Posts to #shop-ops',
  });
  for (let at = 28; at > 0; at -= 1) {
    const answers = at === 17 ? [503, null, 204] : [204];
    await insertDelivery(ctx, { webhookId, url, event: 'execution.completed', at: ago(at * HOUR_MS), answers });
  }
  const open = { webhookId, url, event: 'execution.failed' as const, at: ago(2 * MINUTE_MS), answers: [503] };
  await insertDelivery(ctx, { ...open, isPending: true });
  await ctx.db
    .update(endpoints)
    .set({ createdAt: ago(90 * 24 * HOUR_MS) })
    .where(eq(endpoints.id, sample.webhook));
  await insertNotifications(ctx, userId, sample.webhook);
  await insertLedger(ctx, userId);
  await insertAlerts(ctx, userId, { taskId: sample.tasks.get('Nightly error digest') ?? 0, deliveryId: delivery });
  return { delivery, healthyWebhook: webhookId };
}

async function insertNotifications({ db }: Context, userId: number, webhookId: string): Promise<void> {
  const rows = [
    [
      'usage.alert',
      '50 % of your tokens are used',
      '10,040,112 of 20000000 tokens are used, which is 50.2 %.',
      60,
      true,
    ],
    [
      'task.failed',
      'Task "Release notes draft" failed',
      'It will not run again until you resume it. Last error: The provider did not answer within 60 s.',
      30,
      true,
    ],
    [
      'webhook.failed',
      'The webhook to hooks.gartenhof.example failed',
      `Nothing more is sent to it until you switch it on again. You can then resend what failed. ${CAUSE}`,
      10,
      false,
    ],
    [
      'task.failing',
      'Task "Nightly error digest" failed 3 times in a row',
      'The last error: The provider did not answer within 60 s.',
      12,
      false,
    ],
    ['usage.alert', '80 % of your storage are used', '8 GB of 10 GB are used, which is 80.1 %.', 2, false],
  ] as const;
  await db.insert(notifications).values(
    rows.map(([kind, title, message, hours, isRead]) => {
      const createdAt = ago(hours * HOUR_MS);
      const path = kind === 'webhook.failed' ? `/webhooks/${webhookId}` : kind === 'usage.alert' ? '/usage' : null;
      return { userId, kind, title, message, path, createdAt, readAt: isRead ? createdAt : null };
    }),
  );
}

async function insertAlerts({ db }: Context, userId: number, { taskId, deliveryId }: Record<string, number | string>) {
  const task = { userId, taskId: Number(taskId), data: {} };
  const [failing] = await db
    .insert(alerts)
    .values([
      {
        ...task,
        kind: 'task.failing',
        title: 'Task "Nightly error digest" failed 3 times in a row',
        message: 'The last error: The provider did not answer within 60 s.',
        at: ago(12 * HOUR_MS),
        createdAt: ago(12 * HOUR_MS),
      },
      {
        ...task,
        kind: 'task.overdue',
        title: 'Task "Nightly error digest" is overdue',
        message: 'The run planned for 27 Mar 2026, 02:00 (Europe/Berlin) has not ended 15 minutes later.',
        at: ago(3 * HOUR_MS),
        createdAt: ago(2 * HOUR_MS),
      },
    ])
    .returning({ id: alerts.id });
  await db
    .update(deliveries)
    .set({ alertId: failing?.id })
    .where(eq(deliveries.id, String(deliveryId)));
  const mail = { userId, alertId: failing?.id, recipient: 'team@gartenhof.example', subject: 'Alert', attempt: 1 };
  await db.insert(mails).values({ ...mail, id: randomUUID(), createdAt: ago(12 * HOUR_MS), sentAt: ago(12 * HOUR_MS) });
}

async function insertLedger({ db }: Context, userId: number): Promise<void> {
  const runs = await db.select().from(executions).where(eq(executions.userId, userId)).orderBy(asc(executions.id));
  const records = runs.map((run, at) => ({
    userId,
    executionId: run.id,
    source: 'execution' as const,
    day: run.usageDay ?? '2026-03-01',
    executions: 1,
    model: at % 5 === 0 ? 'small-2026-01' : run.model,
    inputTokens: run.inputTokens ?? 0,
    outputTokens: run.outputTokens ?? 0,
    estimated: false,
    costUsd: run.costUsd ?? 0,
    createdAt: run.createdAt,
  }));
  const agent = { userId, source: 'agent' as const, day: '2026-03-20', executions: 1, model: 'large-2026-01' };
  await db.insert(usageRecords).values(records);
  await db.insert(usageRecords).values({
    ...agent,
    inputTokens: 5200,
    outputTokens: 1400,
    estimated: false,
    costUsd: 0.31,
    createdAt: ago(96 * HOUR_MS),
  });
  const earlier = [
    { period: '2026-02', executions: 1042, tokens: 9_300_000, costUsd: 11.7, completed: 1020, failed: 22 },
    { period: '2026-02-11', executions: 40, tokens: 400_000, costUsd: 0.61 },
  ];
  await db.insert(usageCounters).values(earlier.map((counters) => ({ userId, ...counters })));
  await db
    .update(usageCounters)
    .set({ completed: 890, failed: 28 })
    .where(and(eq(usageCounters.userId, userId), eq(usageCounters.period, '2026-03')));
  const ofUsage = [50, 80].map((threshold) => ({ threshold, notifyEmail: threshold > 50, notifyWebhook: false }));
  await db.insert(usageAlerts).values(ofUsage.map((alert) => ({ userId, ...alert, createdAt: SAMPLE_NOW })));
  const id = randomUUID();
  const key = {
    id,
    userId,
    name: 'Deploy pipeline',
    prefix: 'car_1a2b',
    scopes: ['tasks:read'],
    createdAt: ago(HOUR_MS),
  };
  await db.insert(apiKeys).values({ ...key, secretHash: `hash of ${id}` } as typeof apiKeys.$inferInsert);
  await db.insert(apiKeyUsage).values({ keyId: id, period: '2026-03', requests: 1870 });
}
