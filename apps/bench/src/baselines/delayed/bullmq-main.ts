import { Queue, Worker } from 'bullmq';
import { createCountdown } from '../queues/job-rows.ts';
import { buildDelayedJobs, provider } from './jobs.ts';

// BullMQ's delayed jobs.
const connection = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null };
const queue = new Queue('delayed', { connection });
// The process before ended with its last job, which was not told to Redis any more.
await queue.obliterate({ force: true });
const jobs = buildDelayedJobs();
await queue.addBulk(
  jobs.map(({ prompt, due }) => ({
    name: 'ask',
    data: { prompt },
    opts: { delay: due.getTime() - Date.now(), removeOnComplete: true },
  })),
);
const ended = createCountdown(jobs.length);
new Worker<{ prompt: string }>(
  'delayed',
  async ({ data }) => {
    await provider.ask(data.prompt);
    ended();
  },
  { connection, concurrency: 50 },
);
