import { alerts } from '@carillon/db';
import type { Reader } from '@carillon/texts';
import type { Context } from '../../../context.ts';
import { recordEvents } from '../../../platform/events/outbox.ts';
import { afterCommit } from '../../../transaction.ts';
import { notifyUsers } from '../write.ts';
import { type AlertContent, type AlertKind, describeAlert } from './describe-alert.ts';

/** An alert that is due. */
export type NewAlert = AlertContent & {
  userId: number;
  owner: Reader;
  /** The planned instant of the run, or when a run on demand was asked for. */
  at: Date;
  executionId: number | null;
  /** Of the task. */
  notificationEmail: string | null;
  viaWebhook: boolean;
};

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
      due.map((alert) => {
        const { kind, userId, owner, at, executionId, data } = alert;
        const { title, message } = describeAlert(alert, owner);
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
    fresh.map(({ userId, owner, executionId, notificationEmail, alertId, viaWebhook, ...alert }) => ({
      userId,
      kind: alert.kind === 'task.failing' && alert.data.stopped ? 'task.failed' : alert.kind,
      ...describeAlert(alert, owner),
      path: executionId === null ? `/tasks/${alert.data.task.id}` : `/executions/${executionId}`,
      alertId,
      ...(!viaWebhook && { taskId: alert.data.task.id }),
      taskEmail: notificationEmail,
    })),
  );
}

const toKey = (taskId: number, kind: AlertKind, at: Date) => `${taskId} ${kind} ${at.getTime()}`;
