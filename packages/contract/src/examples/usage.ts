import type * as notifications from '../accounts/notifications.ts';
import type * as usage from '../accounts/usage.ts';
import type { ExamplesFor } from './example.ts';
import { API_KEY, CREATED, success } from './fixtures.ts';

const alert = { id: 5, threshold: 80, notifyEmail: true, notifyWebhook: false };
const quota = (used: number, limit: number) => ({
  used,
  limit,
  remaining: limit - used,
  percentage: Math.round((used * 10_000) / limit) / 100,
});

export const usageExamples: ExamplesFor<typeof usage> & ExamplesFor<typeof notifications> = {
  getUsage: {
    response: {
      200: {
        success,
        usage: {
          period: '2026-11',
          executions: quota(401, 500),
          tokens: quota(182_400, 1_000_000),
          daily: { executions: quota(12, 50), tokens: quota(5_310, 100_000) },
          storage: { usedBytes: 5_242_880, limitBytes: 104_857_600, usedMB: 5, limitMB: 100, percentage: 5 },
          rateLimits: {
            hitToday: 2,
            endpoints: [{ endpoint: 'POST /api/agent/create-task', hits: 2, lastHit: CREATED }],
          },
          keys: [{ id: API_KEY, name: 'Nightly report', requests: 812 }],
          tools: { uses: 14, costUsd: 0.11 },
          saved: { runs: 912, estimatedCostUsd: 3.648 },
        },
      },
    },
  },
  setUsageAlert: {
    body: { threshold: 80, notifyEmail: true, notifyWebhook: false },
    response: { 200: { success, alert } },
  },
  listUsageAlerts: { response: { 200: { success, alerts: [alert] } } },
  deleteUsageAlert: {
    params: { id: alert.id },
    response: { 200: { success, message: 'The alert is deleted.' } },
    errors: { 404: 'Alert not found' },
  },
  listNotifications: {
    query: { unread: true, limit: 20 },
    response: {
      200: {
        success,
        notifications: [
          {
            id: 31,
            kind: 'usage.alert',
            title: '80 % of your executions are used',
            message: '401 of 500 executions of this month are used, which is 80.2 %.',
            readAt: null,
            createdAt: '2026-11-20T07:30:03.871Z',
          },
        ],
        pagination: { total: 1, limit: 20, offset: 0, hasMore: false, nextCursor: null },
      },
    },
  },
  readNotification: {
    params: { id: 31 },
    response: { 200: { success } },
    errors: { 404: 'Notification not found' },
  },
};
