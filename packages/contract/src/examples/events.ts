import type { EventData, EventKind, EventPayload } from '../webhooks/events.ts';

const SCHEDULED = '2026-11-20T07:30:00.000Z';
const STARTED = '2026-11-20T07:30:00.412Z';
const ENDED = '2026-11-20T07:30:03.871Z';

const task = { id: 42, name: 'Morning sentence' };
const status = 'active' as const;

const started: EventData<'execution.started'> = {
  task,
  execution: { id: 1207, status: 'running', startedAt: STARTED, estimatedDurationMs: 3400 },
};

const completed: EventData<'execution.completed'> = {
  task: { ...task, status },
  execution: {
    id: 1207,
    status: 'completed',
    result: 'Begin with the thing that you would rather put off.',
    tokensUsed: { input: 31, output: 14, total: 45 },
    processingTimeMs: 3459,
    startedAt: STARTED,
    completedAt: ENDED,
    citations: [{ url: 'https://example.com/focus', title: 'Why the hardest task comes first' }],
    toolUses: 1,
  },
};

const failed: EventData<'execution.failed'> = {
  task: { ...task, status },
  execution: {
    id: 1207,
    status: 'failed',
    error: 'The provider is busy.',
    errorCode: 'RATE_LIMIT_EXCEEDED',
    startedAt: STARTED,
    failedAt: ENDED,
    processingTimeMs: 3459,
  },
  retryScheduled: true,
  nextRetryAt: '2026-11-20T07:31:03.871Z',
};

const changed: EventData<'task.changed'> = {
  ...completed,
  execution: {
    ...completed.execution,
    changed: true,
    changes: [{ path: '', from: 'Begin early.', to: completed.execution.result }],
  },
};

const run = { task, execution: { id: 1207, status: 'completed' as const } };

const DATA: { [K in EventKind]: EventData<K> } = {
  'task.created': {
    task: {
      ...task,
      prompt: 'Write one sentence that begins a working day well.',
      recurrence: 'daily',
      scheduledFor: SCHEDULED,
      status,
      createdAt: '2026-11-19T16:02:11.038Z',
    },
  },
  'task.updated': {
    task: { ...task, updatedAt: ENDED },
    changes: { name: { from: 'Sentence', to: 'Morning sentence' } },
  },
  'task.deleted': { task: { ...task, deletedAt: ENDED } },
  'task.started': started,
  'task.completed': completed,
  'task.failed': failed,
  'execution.started': started,
  'execution.completed': completed,
  'execution.failed': failed,
  'task.changed': changed,
  'task.overdue': { task, plannedFor: SCHEDULED, overdueMinutes: 15 },
  'task.failing': {
    task,
    execution: { id: 1207, status: 'failed' },
    failuresInRow: 3,
    error: 'The provider is busy.',
    errorCode: 'RATE_LIMIT_EXCEEDED',
    stopped: false,
  },
  'task.recovered': { ...run, since: SCHEDULED },
  'task.expensive': { ...run, costUsd: 0.14, costAboveUsd: 0.1 },
  'task.slow': { ...run, durationMs: 64_210, durationAboveMs: 60_000 },
  'task.degraded': {
    ...run,
    fallbacksInRow: 3,
    modelAttempts: [
      {
        model: 'local/llama3.2',
        errorCode: 'PROVIDER_UNAVAILABLE',
        message: 'The provider could not be reached (ECONNREFUSED).',
        ms: 9,
      },
      { model: 'openai/gpt-5-mini', errorCode: null, message: null, ms: 3459 },
    ],
  },
  'scheduler.silent': { lastCalledAt: SCHEDULED },
  'usage.alert': {
    resource: 'executions',
    threshold: 80,
    percentage: 80.2,
    used: 401,
    limit: 500,
    period: '2026-11',
  },
  test: { message: 'This is a test delivery from Carillon.', testId: '0b6f1a52-7a5b-4f0e-9d0c-5a9a4f3f2f10' },
};

/** An example of the whole payload of an event. */
export const buildExamplePayload = <K extends EventKind>(kind: K): EventPayload<K> => ({
  event: kind,
  timestamp: ENDED,
  webhookId: '3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d',
  userId: 7,
  data: DATA[kind],
});
