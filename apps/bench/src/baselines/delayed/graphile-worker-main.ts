import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { createCountdown } from '../queues/job-rows.ts';
import { buildDelayedJobs, provider } from './jobs.ts';

const connectionString = process.env.DATABASE_URL ?? '';
const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});
const utils = await makeWorkerUtils({ connectionString, logger });
await utils.migrate();
const jobs = buildDelayedJobs();
await utils.addJobs(jobs.map(({ prompt, due }) => ({ identifier: 'ask', payload: { prompt }, runAt: due })));
await utils.release();
const completeOne = createCountdown(jobs.length);
// It polls for jobs that become due: the interval trades lateness against queries.
await run({
  logger,
  preset: { worker: { connectionString, maxPoolSize: 10, concurrentJobs: 5, pollInterval: 100 } },
  taskList: {
    ask: async (payload) => {
      await provider.ask((payload as { prompt: string }).prompt);
      completeOne();
    },
  },
});
