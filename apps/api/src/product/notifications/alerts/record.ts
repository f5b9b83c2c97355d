import type { EventData } from '@carillon/contract/webhooks/events';
import { type ALERT_KINDS, alerts } from '@carillon/db';
import type { Context } from '../../../context.ts';
import { recordEvents } from '../../../platform/events/outbox.ts';
import { afterCommit } from '../../../transaction.ts';
import { notifyUsers } from '../write.ts';

export type AlertKind = (typeof ALERT_KINDS)[number];

/** An alert that is due. */
export type NewAlert = {
  [K in AlertKind]: {
    kind: K;
    userId: number;
    /** The planned instant of the run, or when a run on demand was asked for. */
    at: Date;
    executionId: number | null;
    title: string;
    message: string;
    data: EventData<K>;
    /** Of the task. */
    notificationEmail: string | null;
    viaWebhook: boolean;
  };
}[AlertKind];

/**
 * Stores alerts and delivers them to the webhooks, the mail address of the task and the notifications of its owner. One that
 * is stored already is not delivered again. The caller's transaction has locked the tasks.
 */
export async function recordAlerts(tx: Context, due: readonly NewAlert[]): Promise<void> {
  if (due.length === 0) return;
  const createdAt = tx.now();
  const inserted = await tx.db
    .insert(alerts)
    .values(
      due.map(({ kind, userId, at, executionId, title, message, data }) => {
        return { kind, userId, taskId: data.task.id, at, executionId, title, message, data, createdAt };
      }),
    )
    .onConflictDoNothing()
    .returning({ alertId: alerts.id, taskId: alerts.taskId, kind: alerts.kind, at: alerts.at });
  const unsent = new Map(inserted.map(({ alertId, taskId, kind, at }) => [toKey(taskId, kind, at), alertId]));
  const fresh = due.flatMap((alert) => {
    const key = toKey(alert.data.task.id, alert.kind, alert.at);
    const alertId = unsent.get(key);
    unsent.delete(key);
    return alertId === undefined ? [] : [{ ...alert, alertId }];
  });
  afterCommit(tx, () => {
    for (const { kind } of fresh) tx.metrics.alertSent(kind);
  });
  recordEvents(
    tx,
    fresh.map(({ kind, userId, data, viaWebhook, alertId }) => {
      return { kind, userId, taskId: data.task.id, data, viaWebhook, alertId };
    }),
  );
  await notifyUsers(
    tx,
    fresh.map(({ userId, title, message, executionId, notificationEmail, alertId, viaWebhook, ...alert }) => ({
      userId,
      kind: alert.kind === 'task.failing' && alert.data.stopped ? 'task.failed' : alert.kind,
      title,
      message,
      path: executionId === null ? `/tasks/${alert.data.task.id}` : `/executions/${executionId}`,
      alertId,
      ...(!viaWebhook && { taskId: alert.data.task.id }),
      taskEmail: notificationEmail,
    })),
  );
}

const toKey = (taskId: number, kind: AlertKind, at: Date) => `${taskId} ${kind} ${at.getTime()}`;
