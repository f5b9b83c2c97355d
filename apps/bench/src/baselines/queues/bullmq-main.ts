import { Queue, Worker } from 'bullmq';
import { createCountdown, createJobs, type Job } from './job-rows.ts';

const QUEUE = 'executions';
const concurrency = Number(process.env.CONCURRENCY);
const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null };
const jobs = await createJobs(concurrency);
const queue = new Queue(QUEUE, { connection });
// The process of the previous round exits before Redis learns of its last job.
await queue.obliterate({ force: true });
const list = await jobs.list();
for (let at = 0; at < list.length; at += 1000) {
  await queue.addBulk(
    list.slice(at, at + 1000).map((data) => ({ name: 'execute', data, opts: { removeOnComplete: true } })),
  );
}
const completeOne = createCountdown(list.length);
new Worker<Job>(
  QUEUE,
  async ({ data }) => {
    await jobs.run(data);
    completeOne();
  },
  { connection, concurrency },
);
