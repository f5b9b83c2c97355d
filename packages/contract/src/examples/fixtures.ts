import type { Static } from '@sinclair/typebox';
import type { User } from '../accounts/users.ts';
import type { Channel } from '../channels/channels.ts';
import type { ChannelAttempt } from '../channels/deliveries.ts';
import type { Execution } from '../executions.ts';
import type { Task } from '../tasks.ts';
import type { DeliveryAttempt, Webhook } from '../webhooks/webhooks.ts';

// All examples show Alice, her daily task and one run of it.

export const REGISTERED = '2026-11-19T15:58:40.512Z';
export const CREATED = '2026-11-19T16:02:11.038Z';
export const PLANNED = '2026-11-20T07:30:00.000Z';
export const STARTED = '2026-11-20T07:30:00.412Z';
export const ENDED = '2026-11-20T07:30:03.871Z';
export const NOW = '2026-11-20T09:15:27.204Z';
export const TRIAL_END = '2026-12-03T15:58:40.512Z';

export const success = true as const;

export const PROMPT = 'Write one sentence that begins a working day well.';
export const MODEL = 'openai/gpt-5-mini';
export const CURSOR = 'MTIwNw';

export const UPLOAD = '8c1f4e0a-6b2d-4f39-9a57-3e0d7c5b1a26';
export const WEBHOOK = '3f6c9b5e-8a1d-4c57-9a43-0d5f6a1b2c3d';
export const DELIVERY = 'c7e0a5b4-41d9-4f7e-9a6d-2b8e1f3c5d70';
export const PROPOSAL = 'd94b7f12-5e08-4c63-8b2f-71a6e0c9d345';
export const API_KEY = '6a0d8e51-3c7b-4f92-8e15-b4c9d2a7f360';
export const SOURCE_SECRET = '1b7e4d92-58c0-4a3f-b6d1-90e2f7c5a814';
export const SECRET = 'whsec_dGhpcyBpcyBubyBzZWNyZXQgYXQgYWxs';

export const alice: Static<typeof User> = {
  id: 7,
  identityUserId: 'local:5b0f2c1e-9d47-4a86-b3f0-1c8e6a2d7f45',
  email: 'alice@example.com',
  name: 'Alice',
  role: 'USER',
  timezone: 'Europe/Lisbon',
  isActive: true,
  trialEndsAt: TRIAL_END,
  createdAt: REGISTERED,
  stats: { totalTasks: 1, activeTasks: 1, totalExecutions: 1, successRate: 100 },
};

export const task: Task = {
  id: 42,
  userId: alice.id,
  externalId: 'morning-sentence',
  name: 'Morning sentence',
  description: 'For the head of my notes.',
  prompt: PROMPT,
  scheduledFor: PLANNED,
  nextExecutionAt: '2026-11-21T07:30:00.000Z',
  recurrence: 'daily',
  recurrencePattern: null,
  interval: 1,
  timezone: 'Europe/Lisbon',
  aiModel: MODEL,
  fallbackModels: [],
  maxTokens: 1024,
  temperature: 70,
  status: 'active',
  executionCount: 1,
  lastExecutionAt: STARTED,
  attachments: [],
  webhookUrl: null,
  notificationEmail: null,
  channels: [],
  context: { clock: true, previousResult: false },
  outputSchema: null,
  inputs: [],
  sources: [],
  runIf: 'always',
  notify: 'always',
  watch: [],
  missed: 'latest',
  overlap: 'skip',
  endsAt: null,
  maxRuns: null,
  pausedUntil: null,
  timeoutMs: null,
  monthlyBudgetUsd: null,
  tools: [],
  maxToolUses: 5,
  requireTools: false,
  maxRetries: 3,
  alerts: null,
  createdAt: CREATED,
  updatedAt: CREATED,
};

/** What `execution` was sent. */
export const SYSTEM_MESSAGE = [
  `This is a scheduled run of the task "${task.name}".`,
  `It is Friday, 2026-11-20, 07:30, in the time zone ${task.timezone} (UTC+00:00), as planned.`,
  'The task last succeeded on Thursday, 2026-11-19, 07:30.',
].join('\n');

export const execution: Execution = {
  id: 1207,
  taskId: task.id,
  userId: alice.id,
  status: 'completed',
  result: 'Begin with the thing that you would rather put off.',
  output: null,
  changed: null,
  changes: null,
  citations: [{ url: 'https://example.com/focus', title: 'Why the hardest task comes first' }],
  toolUses: 1,
  truncated: false,
  modelAttempts: [{ model: MODEL, errorCode: null, message: null, ms: 3459 }],
  sources: [],
  outcome: null,
  outcomeReason: null,
  error: null,
  errorCode: null,
  tokensUsed: 45,
  tokens: { input: 31, output: 14, total: 45, estimated: false },
  costUsd: 0.00003575,
  model: MODEL,
  processingTimeMs: 3459,
  trigger: 'schedule',
  plannedFor: PLANNED,
  attempt: 1,
  retryOfId: null,
  taskVersion: 1,
  createdAt: '2026-11-20T07:30:00.287Z',
  startedAt: STARTED,
  completedAt: ENDED,
  seenAt: null,
};

export const webhook: Webhook = {
  id: WEBHOOK,
  userId: alice.id,
  purpose: 'subscription',
  taskId: null,
  url: 'https://hooks.example.com/carillon',
  events: ['task.completed', 'task.failed'],
  description: 'Team chat',
  isActive: true,
  status: 'active',
  createdAt: CREATED,
};

export const attempt: DeliveryAttempt = {
  id: '6d2b9f70-1e4c-4b8a-a5d3-f09c7e61b842',
  webhookId: WEBHOOK,
  event: 'task.completed',
  url: webhook.url,
  statusCode: 200,
  responseTime: 84,
  attempt: 1,
  success: true,
  timestamp: '2026-11-20T07:30:03.962Z',
};

const CHANNEL = '3c1f7a52-90de-4b6c-8f21-7d4e0ab95c63';

export const channel: Channel = {
  id: CHANNEL,
  kind: 'ntfy',
  name: 'Phone',
  settings: { url: 'https://ntfy.example.com', topic: 'morning-news' },
  isForAccount: false,
  isActive: true,
  status: 'active',
  isConfirmed: true,
  quiet: { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' },
  minIntervalMinutes: null,
  digest: 'off',
  digestHour: null,
  digestTimezone: null,
  urgent: true,
  createdAt: CREATED,
};

export const channelAttempt: ChannelAttempt = {
  id: 'a0d7c6e4-25b1-4f39-9c8a-e16f3b7d0942',
  deliveryId: DELIVERY,
  channelId: CHANNEL,
  event: 'execution.completed',
  statusCode: 200,
  responseTime: 84,
  attempt: 1,
  success: true,
  error: null,
  timestamp: '2026-11-20T07:30:03.962Z',
};

/** The body of 402. */
export const quotaExceeded = (resource: string, used: number, limit: number, resetAt: string | null = null) => ({
  success: false,
  error: 'Quota exceeded',
  message: `The quota of ${limit} ${resource} is used up${resetAt === null ? '' : ` until ${resetAt}`}.`,
  details: { resource, used, limit, resetAt },
});

export const executionQuotaExceeded = quotaExceeded('executions', 50, 50, '2026-11-21T00:00:00.000Z');

/** The body of a validation error. */
export const validationError = (details: Record<string, string[]>) => ({
  success: false,
  error: 'Validation error',
  details,
});
