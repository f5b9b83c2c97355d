import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { createCountdown, createJobs, type Job } from './job-rows.ts';

const concurrency = Number(process.env.CONCURRENCY);
const jobs = await createJobs(concurrency);
const connectionString = process.env.DATABASE_URL ?? '';
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});
const utils = await makeWorkerUtils({ connectionString, logger });
await utils.migrate();
const list = await jobs.list();
for (let at = 0; at < list.length; at += 1000) {
  await utils.addJobs(list.slice(at, at + 1000).map((payload) => ({ identifier: 'execute', payload })));
}
await utils.release();
const completeOne = createCountdown(list.length);
await run({
  logger,
  preset: {
    worker: {
      connectionString,
      maxPoolSize: 10,
      concurrentJobs: concurrency,
      pollInterval: 500,
      // The fastest of 201, 400, 500 and 1,000 jobs, delays of -1, 0 and 25 ms, and pools of 10 and 20 connections.
      localQueue: { size: concurrency * 2 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: {
    execute: async (payload) => {
      await jobs.run(payload as Job);
      completeOne();
    },
  },
});
