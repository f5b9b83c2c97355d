import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import postgres from 'postgres';
import { printReady } from './session-and-task.ts';

// No session and no total.
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 5 });
const app = Fastify();
type Query = { Querystring: { user: string; before: string; limit: string } };

app.get<Query>('/tasks', async ({ query: { user, before, limit } }) => ({
  tasks: await sql`
    select id, user_id as "userId", name, description, prompt, scheduled_for as "scheduledFor",
      next_execution_at as "nextExecutionAt", recurrence, recurrence_pattern as "recurrencePattern", timezone,
      ai_model as "aiModel", max_tokens as "maxTokens", temperature, status, execution_count as "executionCount",
      last_execution_at as "lastExecutionAt", attachment_ids as attachments, created_at as "createdAt",
      updated_at as "updatedAt"
    from tasks where user_id = ${Number(user)} and id < ${Number(before)} order by id desc limit ${Number(limit)}`,
}));

app.get<Query>('/executions', async ({ query: { user, before, limit } }) => ({
  executions: await sql`
    select id, task_id as "taskId", user_id as "userId", status, result, error, error_code as "errorCode",
      input_tokens as "inputTokens", output_tokens as "outputTokens", tokens_estimated as "tokensEstimated",
      cost_usd as "costUsd", model, processing_time_ms as "processingTimeMs", trigger, planned_for as "plannedFor",
      attempt, retry_of_id as "retryOfId", created_at as "createdAt", started_at as "startedAt",
      completed_at as "completedAt"
    from executions where user_id = ${Number(user)} and id < ${Number(before)} order by id desc limit ${Number(limit)}`,
}));

await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
