import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import postgres from 'postgres';
import { openConnections } from '../connections.ts';
import { createProvider } from './provider.ts';

// Without sessions, limits, quotas and events.
const url = process.env.DATABASE_URL ?? '';
const query = await openConnections(url, 10);
const provider = createProvider(10);

const CLAIM = `
  with queued as (
    select id from executions_live where status = 'pending' and queued_at is not null order by user_id, run_at, id limit 10
    for no key update skip locked
  ), started as (
    update executions_live e set status = 'running', started_at = $1::timestamptz, claim_token = $2::uuid,
      lease_until = $3::timestamptz from queued where e.id = queued.id returning e.id, e.task_id
  )
  select s.id, t.prompt from started s join tasks t on t.id = s.task_id`;

const COMPLETE = `
  update executions set status = 'completed', archived = true, completed_at = $1::timestamptz, claim_token = null, lease_until = null,
    result = $2 where not archived and id = $3::int`;

const ENQUEUE = `
  with queued as (
    insert into executions (task_id, user_id, status, trigger, run_at, queued_at, usage_day, created_at)
    select id, user_id, 'pending', 'manual', $1::timestamptz, $1::timestamptz, $2::date, $1::timestamptz
    from tasks where id = $3::int returning id
  )
  select id, pg_notify('queued', '') from queued`;

async function claim() {
  const now = new Date();
  const lease = new Date(now.getTime() + 30_000);
  const values = [now.toISOString(), randomUUID(), lease.toISOString()];
  const started = await query<{ id: number; prompt: string }>(CLAIM, values);
  await Promise.all(started.map(run));
}

async function run({ id, prompt }: { id: number; prompt: string }) {
  const { text } = await provider.ask(prompt);
  await query(COMPLETE, [new Date().toISOString(), text, id]);
}

await postgres(url, { max: 1 }).listen('queued', () => void claim());
const app = Fastify();
app.post<{ Params: { id: string } }>('/tasks/:id/execute', async ({ params }) => {
  const now = new Date().toISOString();
  const [row] = await query<{ id: number }>(ENQUEUE, [now, now.slice(0, 10), Number(params.id)]);
  return { success: true, executionId: row?.id };
});
await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`ready at http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
