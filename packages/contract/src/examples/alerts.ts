import type * as alerts from '../tasks/alerts.ts';
import type { ExamplesFor } from './example.ts';
import { CURSOR, success, task } from './fixtures.ts';

const alert = {
  id: 12,
  kind: 'task.overdue' as const,
  taskId: task.id,
  taskName: task.name,
  at: '2026-11-21T07:30:00.000Z',
  executionId: null,
  title: `Task "${task.name}" is overdue`,
  message: 'The run planned for 21 Nov 2026, 07:30 (Europe/Lisbon) has not ended 15 minutes later.',
  createdAt: '2026-11-21T07:45:00.318Z',
  acknowledgedAt: null,
  undelivered: false,
  deliveries: [
    {
      kind: 'mail' as const,
      to: 'alice@example.com',
      status: 'delivered' as const,
      attempts: 1,
      lastError: null,
      at: '2026-11-21T07:45:01.902Z',
    },
  ],
};

export const alertsExamples: ExamplesFor<typeof alerts> = {
  listAlerts: {
    query: { taskId: task.id, kind: 'task.overdue', limit: 20, cursor: CURSOR },
    response: {
      200: {
        success,
        alerts: [alert],
        pagination: { limit: 20, nextCursor: null },
      },
    },
  },
  acknowledgeAlert: {
    params: { id: alert.id },
    response: { 200: { success, alert: { ...alert, acknowledgedAt: '2026-11-21T08:02:11.940Z' } } },
    errors: { 404: 'Alert not found' },
  },
};
