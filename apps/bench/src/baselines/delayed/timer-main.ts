import postgres from 'postgres';
import { createCountdown } from '../queues/job-rows.ts';
import { buildDelayedJobs, type DelayedJob, provider } from './jobs.ts';

// One connection is enough for sequential statements.
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 1 });
const jobs = buildDelayedJobs();
await sql`create table if not exists delayed (id int generated always as identity primary key, prompt text, due timestamptz, done bool)`;
await sql`create index if not exists delayed_due on delayed (due) where not done`;
await sql`insert into delayed (prompt, due, done)
  select prompt, due, false from jsonb_to_recordset(${JSON.stringify(jobs)}::text::jsonb) as j(prompt text, due timestamptz)`;
const completeOne = createCountdown(jobs.length);

async function runDue() {
  const now = new Date();
  const claimed = await sql<Pick<DelayedJob, 'prompt'>[]>`
    update delayed set done = true where id in (
      select id from delayed where not done and due <= ${now} order by due limit 100 for no key update skip locked)
    returning prompt`;
  for (const { prompt } of claimed) void provider.ask(prompt).then(completeOne);
  const [next] = await sql<{ due: Date }[]>`select min(due) as due from delayed where not done`;
  if (next?.due) setTimeout(runDue, Math.max(0, next.due.getTime() - Date.now()));
}
await runDue();
