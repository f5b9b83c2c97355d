import { PgBoss } from 'pg-boss';
import { createCountdown, createJobs, type Job } from './job-rows.ts';

const concurrency = Number(process.env.CONCURRENCY);
/** The fastest of 1, 2, 4 and 8 batches at a time. */
const BATCHES = 4;
const QUEUE = 'executions';
const jobs = await createJobs(concurrency);
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
    await jobs.runBatch(batch.map(({ data }) => data));
    for (const _ of batch) completeOne();
  },
);
