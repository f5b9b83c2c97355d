import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import postgres from 'postgres';
import { printReady } from '../http/session-and-task.ts';
import { createProvider } from './provider.ts';

// Without sessions, limits, quotas and events.
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10 });
const provider = createProvider(10);

async function claim() {
  const now = new Date();
  const started = await sql<{ id: number; prompt: string }[]>`
    with queued as (
      select id from executions where status = 'pending' and queued_at is not null order by user_id, run_at, id limit 10
      for no key update skip locked
    ), started as (
      update executions e set status = 'running', started_at = ${now}, claim_token = ${randomUUID()},
        lease_until = ${new Date(now.getTime() + 30_000)} from queued where e.id = queued.id returning e.id, e.task_id
    )
    select s.id, t.prompt from started s join tasks t on t.id = s.task_id`;
  await Promise.all(started.map(run));
}

async function run({ id, prompt }: { id: number; prompt: string }) {
  const answer = await provider.ask(prompt);
  await sql`update executions set status = 'completed', completed_at = ${new Date()}, claim_token = null,
    lease_until = null, result = ${answer.text} where id = ${id}`;
}

await sql.listen('queued', () => void claim());
const app = Fastify();
app.post<{ Params: { id: string } }>('/tasks/:id/execute', async ({ params }) => {
  const now = new Date();
  const [row] = await sql`
    with queued as (
      insert into executions (task_id, user_id, status, trigger, run_at, queued_at, usage_day, created_at)
      select id, user_id, 'pending', 'manual', ${now}, ${now}, ${now.toISOString().slice(0, 10)}, ${now}
      from tasks where id = ${Number(params.id)} returning id
    )
    select id, pg_notify('queued', '') from queued`;
  return { success: true, executionId: row?.id };
});
await app.listen({ host: '127.0.0.1', port: 0 });
printReady((app.server.address() as AddressInfo).port);
