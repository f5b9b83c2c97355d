import { PgBoss } from 'pg-boss';
import { createCountdown } from '../queues/job-rows.ts';
import { buildDelayedJobs, provider } from './jobs.ts';

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
const completeOne = createCountdown(jobs.length);
// 0.5 seconds is the shortest interval that pg-boss accepts.
await boss.work<{ prompt: string }>(QUEUE, { batchSize: 100, pollingIntervalSeconds: 0.5 }, async (batch) => {
  await Promise.all(batch.map(({ data }) => provider.ask(data.prompt)));
  for (const _ of batch) completeOne();
});
