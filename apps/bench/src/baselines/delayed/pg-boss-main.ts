import { PgBoss } from 'pg-boss';
import { createCountdown } from '../queues/job-rows.ts';
import { buildDelayedJobs, provider } from './jobs.ts';

// pg-boss with jobs that start after an instant. It looks for them at an interval, half a second at the least.
const QUEUE = 'delayed';
const boss = new PgBoss({
  connectionString: process.env.DATABASE_URL ?? '',
  max: 10,
  schedule: false,
  supervise: false,
});
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE);
const jobs = buildDelayedJobs();
await boss.insert(
  QUEUE,
  jobs.map(({ prompt, due }) => ({ data: { prompt }, startAfter: due })),
);
const ended = createCountdown(jobs.length);
await boss.work<{ prompt: string }>(QUEUE, { batchSize: 100, pollingIntervalSeconds: 0.5 }, async (batch) => {
  await Promise.all(batch.map(({ data }) => provider.ask(data.prompt)));
  for (const _ of batch) ended();
});
