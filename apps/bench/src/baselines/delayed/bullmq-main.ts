import { Queue, Worker } from 'bullmq';
import { createCountdown } from '../queues/job-rows.ts';
import { buildDelayedJobs, provider } from './jobs.ts';

const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null };
const queue = new Queue('delayed', { connection });
// The previous process exits before Redis learns of its last job.
await queue.obliterate({ force: true });
const jobs = buildDelayedJobs();
await queue.addBulk(
  jobs.map(({ prompt, due }) => ({
    name: 'ask',
    data: { prompt },
    opts: { delay: due.getTime() - Date.now(), removeOnComplete: true },
  })),
);
const completeOne = createCountdown(jobs.length);
new Worker<{ prompt: string }>(
  'delayed',
  async ({ data }) => {
    await provider.ask(data.prompt);
    completeOne();
  },
  { connection, concurrency: 50 },
);
