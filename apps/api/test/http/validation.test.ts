import type { Operation } from '@carillon/contract';
import { PUBLIC } from '@carillon/contract';
import { Instant, nullable, ref } from '@carillon/contract/primitives';
import { createTask, Task } from '@carillon/contract/tasks';
import { type Static, Type } from '@sinclair/typebox';
import t from 'tap';
import type { App } from '../../src/platform/http/validation.ts';
import { testContext } from '../support/context.ts';

const at = new Date('2026-11-20T10:00:00.000Z');
const task: Static<typeof Task> & { consecutiveFailures: number } = {
  id: 1,
  userId: 2,
  externalId: 'task-1',
  name: 'N',
  description: null,
  prompt: 'P',
  scheduledFor: at,
  nextExecutionAt: null,
  recurrence: 'once',
  recurrencePattern: null,
  interval: 1,
  timezone: 'UTC',
  aiModel: 'offline',
  fallbackModels: [],
  maxTokens: 1,
  temperature: 0,
  status: 'active',
  executionCount: 0,
  lastExecutionAt: at,
  attachments: [],
  webhookUrl: null,
  notificationEmail: null,
  channels: [],
  context: { clock: true, previousResult: false },
  outputSchema: null,
  inputs: [],
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
  sources: [],
  runIf: 'always',
  maxRetries: 3,
  alerts: null,
  createdAt: at,
  updatedAt: at,
  consecutiveFailures: 3,
};

const shown = {
  operationId: 'shown',
  summary: 'What leaves',
  tags: ['test'],
  security: PUBLIC,
  response: { 200: Type.Object({ task: ref(Task), at: nullable(Instant), note: Type.Optional(Type.String()) }) },
} satisfies Operation;

const { app } = await testContext(t, {
  routes: (app) => {
    const typed = app as unknown as App;
    const config = { access: 'public' } as const;
    typed.get('/shown', { schema: shown, config }, async () => ({ task, at: null }));
    // @ts-expect-error: a task is missing
    typed.get('/incomplete', { schema: { ...shown, operationId: 'other' }, config }, async () => ({ at: null }));
    typed.post('/typed', { schema: { ...createTask, operationId: 'typed' }, config }, async ({ body }, reply) => {
      const name: string = body.name;
      const description: string | null | undefined = body.description;
      // @ts-expect-error: the contract knows no such field
      const unknown = body.role;
      return reply.code(201).send({ success: true, taskId: [name, description, unknown].length });
    });
  },
});

t.test('Rows are answered by the contract: instants in UTC, nulls as nulls, no other fields', async (t) => {
  const { consecutiveFailures: _, ...visible } = task;
  t.same((await app.inject('/shown')).json(), { task: JSON.parse(JSON.stringify(visible)), at: null });
});

t.test('A response without a promised field is a 500, not half an answer', async (t) => {
  const response = await app.inject('/incomplete');
  t.equal(response.statusCode, 500);
  t.match(response.json(), { success: false, error: 'Internal server error' });
});

t.test('Handlers get the validated values', async (t) => {
  const payload = {
    name: 'Name',
    prompt: 'A prompt of some length',
    scheduledFor: at.toISOString(),
    recurrence: 'once',
    timezone: 'utc',
  };
  t.same((await app.inject({ method: 'POST', url: '/typed', payload })).json(), { success: true, taskId: 3 });
});
