import { compileValidator } from '@carillon/contract';
import { buildExamplePayload } from '@carillon/contract/examples/events';
import { EVENT_KINDS, eventPayload } from '@carillon/contract/webhooks/events';
import t from 'tap';

const at = '2026-11-20T10:00:00.000Z';
const base = { timestamp: at, webhookId: 'w', userId: 7 };
const run = { id: 3, status: 'running', startedAt: at };

const DATA: Record<(typeof EVENT_KINDS)[number], object> = {
  'task.created': {
    task: { id: 1, name: 'N', prompt: 'P', recurrence: 'once', scheduledFor: at, status: 'active', createdAt: at },
  },
  'task.updated': { task: { id: 1, name: 'N', updatedAt: at }, changes: { name: { from: 'M', to: 'N' } } },
  'task.deleted': { task: { id: 1, name: 'N', deletedAt: at } },
  'task.started': { task: { id: 1, name: 'N' }, execution: { ...run, estimatedDurationMs: 900 } },
  'execution.started': { task: { id: 1, name: 'N' }, execution: { ...run, estimatedDurationMs: 900 } },
  'task.completed': completed(),
  'execution.completed': completed(),
  'task.failed': failed(at),
  'execution.failed': failed(null),
  'task.changed': completed(),
  'task.overdue': { task: { id: 1, name: 'N' }, plannedFor: at, overdueMinutes: 15 },
  'task.failing': {
    task: { id: 1, name: 'N' },
    execution: run,
    failuresInRow: 3,
    error: 'E',
    errorCode: 'TIMEOUT',
    stopped: false,
  },
  'task.recovered': { task: { id: 1, name: 'N' }, execution: run, since: at },
  'task.expensive': { task: { id: 1, name: 'N' }, execution: run, costUsd: 2, costAboveUsd: 1 },
  'task.slow': { task: { id: 1, name: 'N' }, execution: run, durationMs: 2, durationAboveMs: 1 },
  'task.degraded': { task: { id: 1, name: 'N' }, execution: run, fallbacksInRow: 3, modelAttempts: [] },
  'scheduler.silent': { lastCalledAt: at },
  'usage.alert': { resource: 'tokens', threshold: 80, percentage: 80.5, used: 805, limit: 1000, period: '2026-11' },
  test: { message: 'Hello', testId: 'x' },
};

function completed() {
  const tokensUsed = { input: 1, output: 2, total: 3 };
  const execution = { ...run, status: 'completed', result: 'R', tokensUsed, processingTimeMs: 5, completedAt: at };
  return { task: { id: 1, name: 'N', status: 'active' }, execution };
}

function failed(nextRetryAt: string | null) {
  const execution = { ...run, status: 'failed', error: 'E', errorCode: 'TIMEOUT', failedAt: at, processingTimeMs: 5 };
  return {
    task: { id: 1, name: 'N', status: 'active' },
    execution,
    retryScheduled: nextRetryAt !== null,
    nextRetryAt,
  };
}

for (const kind of EVENT_KINDS) {
  t.test(`the payload of ${kind} matches its schema`, async (t) => {
    const check = compileValidator(eventPayload(kind));
    t.match(check({ ...base, event: kind, data: DATA[kind] }), { ok: true });
    t.match(check({ ...base, event: 'other', data: DATA[kind] }), { ok: false });
    t.match(check({ ...base, event: kind, data: {} }), { ok: false });
  });
}

t.test('every kind of event has an example that matches its schema', async (t) => {
  for (const kind of EVENT_KINDS) {
    t.match(compileValidator(eventPayload(kind))(buildExamplePayload(kind)), { ok: true }, kind);
  }
});
