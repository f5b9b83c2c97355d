import { PgBoss } from 'pg-boss';
import { createCountdown, createJobs, type Job } from './job-rows.ts';

// The fastest settings: several batches at a time, and the next fetch immediately after a full one.
const concurrency = Number(process.env.CONCURRENCY);
const BATCHES = 4;
const QUEUE = 'executions';
const jobs = createJobs(concurrency);
const boss = new PgBoss({
  connectionString: process.env.DATABASE_URL ?? '',
  max: 10,
  schedule: false,
  supervise: false,
});
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE);
const list = await jobs.list();
for (let at = 0; at < list.length; at += 1000) {
  await boss.insert(
    QUEUE,
    list.slice(at, at + 1000).map((data) => ({ data })),
  );
}
const completeOne = createCountdown(list.length);
await boss.work<Job>(
  QUEUE,
  {
    batchSize: Math.ceil(concurrency / BATCHES),
    localConcurrency: BATCHES,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
  },
  async (batch) => {
    await Promise.all(batch.map(({ data }) => jobs.run(data).then(completeOne)));
  },
);
