import type { Context, WorkerHandle } from '../context.ts';
import { deliverDueMails } from '../lib/mail/deliver.ts';
import { createIntervals } from '../lib/queue/loops.ts';
import { rescueAgentCalls } from '../product/agent/calls.ts';
import { composeReset } from '../product/auth/password-reset.ts';
import { createDeliverer } from '../product/deliveries/queue/deliverer.ts';
import { pipeline } from '../product/executions/pipeline.ts';
import { watchModels } from '../product/executions/request/providers/watch-models.ts';
import { createExecutionRunner } from '../product/executions/runner.ts';
import { indexRunTexts } from '../product/executions/search.ts';
import { createLooker } from '../product/executions/sources/looker.ts';
import { failAlertMail } from '../product/notifications/alerts/undelivered.ts';
import { preparePartitions } from '../product/retention/partitions/change-partitions.ts';
import { createPruner } from '../product/retention/prune.ts';
import { reportOldBackup } from '../product/system/health/old-backup.ts';
import { reportSilence } from '../product/system/health/silent-scheduler.ts';
import { deleteOrphanedObjects } from '../product/uploads/orphaned-objects.ts';
import { inTransaction } from '../transaction.ts';

const MAIL_MS = 1000;
const AGENT_RESCUE_MS = 5000;
const SEARCH_MS = 10_000;
const BACKUP_CHECK_MS = 3_600_000;
const PRUNE_MS = 60_000;
/** Once a day, over all processes. */
const WATCH_MODELS_MS = 3_600_000;
/** The worker queues due tasks itself after this silence of the scheduler. */
const SCHEDULER_SILENT_MS = 60_000;
/** For requests and executions. */
export const GRACE_MS = 20_000;
/** A process that is killed loses the uses of keys since the last time. */
const API_KEY_USE_MS = 15_000;

export interface Worker extends WorkerHandle {
  start(): void;
  /** Looks at due sources, then runs queued executions until no more may start. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** Any number of equal workers share one database. */
export function createWorker(ctx: Context, { graceMs = GRACE_MS } = {}): Worker {
  const stopping = new AbortController();
  const runner = createExecutionRunner(ctx, { graceMs });
  const looker = createLooker(ctx, { graceMs });
  const deliverer = createDeliverer(ctx, { graceMs });
  const intervals = createIntervals(ctx.log);

  /** With the alerts of overdue tasks: a silent scheduler must not silence them. */
  async function enqueueOverdue() {
    const { queued } = await pipeline.enqueue(ctx, { overdueMs: SCHEDULER_SILENT_MS });
    if (queued.length === 0) return;
    ctx.log.warn({ executions: queued.length }, 'the scheduler trigger is overdue: the worker queued what was due');
  }

  return {
    wakeExecutions: runner.wake,
    wakeDeliveries: deliverer.wake,
    wakeLooks: looker.wake,
    abort: runner.abort,
    rescue: runner.rescue,
    stopping: stopping.signal,
    isAlive: () => runner.isAlive() && deliverer.isAlive(),
    start() {
      looker.start();
      runner.start();
      deliverer.start();
      const startedAt = ctx.now();
      intervals.every(SCHEDULER_SILENT_MS / 4, 'queueing overdue tasks', enqueueOverdue);
      intervals.every(SCHEDULER_SILENT_MS / 4, 'watching the scheduler', () => reportSilence(ctx, startedAt));
      intervals.every(AGENT_RESCUE_MS, 'rescuing agent calls', () => rescueAgentCalls(ctx));
      intervals.every(MAIL_MS, 'delivering mail', () =>
        deliverDueMails(ctx, {
          composeReset: (address) => composeReset(ctx, address),
          failAlert: (failed, write) => failAlertMail(ctx, failed, write),
          transact: (work) => inTransaction(ctx, ({ db }) => work(db)),
        }),
      );
      intervals.every(API_KEY_USE_MS, 'recording the use of API keys', () => ctx.apiKeyUse.flush());
      intervals.every(SEARCH_MS, 'storing the words of runs', () => indexRunTexts(ctx));
      intervals.every(PRUNE_MS, 'preparing partitions', () => preparePartitions(ctx));
      intervals.every(WATCH_MODELS_MS, 'watching models', () => watchModels(ctx));
      intervals.every(BACKUP_CHECK_MS, 'checking the last backup', () => reportOldBackup(ctx));
      intervals.every(PRUNE_MS, 'pruning', createPruner(ctx));
      intervals.every(PRUNE_MS, 'deleting orphaned objects', () => deleteOrphanedObjects(ctx));
    },
    async drain() {
      await looker.drain();
      await runner.drain();
    },
    async stop() {
      stopping.abort();
      await Promise.all([looker.stop(), runner.stop(), deliverer.stop(), intervals.stop()]);
    },
  };
}
