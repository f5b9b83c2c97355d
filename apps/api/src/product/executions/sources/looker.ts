import type { Context } from '../../../context.ts';
import { createLeaseHolder } from '../../../lib/queue/leases.ts';
import { createBatcher, createIntervals, singleFlight } from '../../../lib/queue/loops.ts';
import { retryWhileUnavailable } from '../../../lib/queue/retry.ts';
import { decideLooks, type EndedLook } from './decide.ts';
import { lookAtSources } from './look.ts';
import { type ClaimedLook, claimLooks, handBackLooks, isAnyLookWaiting, renewLooks } from './queue.ts';
import { loadStates } from './states.ts';

const POLL_MS = 1000;
/** Of this process. They wait for other servers, so they are no load. */
const MAX_LOOKS = 200;
const MAX_BATCH = 200;
const MAX_WAIT_MS = 2000;

export interface Looker {
  wake(): void;
  start(): void;
  /** Looks at everything that waits, and returns when nothing is left. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Looks at the sources of due tasks before their runs are planned. Looks hold neither a slot nor a transaction, and each is
 * decided when it has ended, so that a slow one delays no other. Any number of processes share one database.
 */
export function createLooker(ctx: Context, { graceMs }: { graceMs: number }): Looker {
  const stopping = new AbortController();
  const closing = new AbortController();
  const intervals = createIntervals(ctx.log);
  const looking = createLeaseHolder<ClaimedLook, void>(ctx, {
    name: 'looks',
    idName: 'taskId',
    work: look,
    onEnd: () => void fill(),
    renew: (leases) => renewLooks(ctx, leases),
    // A claim takes those of dead processes.
    rescue: async () => {},
    handBack: (leases) => handBackLooks(ctx, leases),
  });
  const load = createBatcher(loadAll, MAX_BATCH);
  const decide = createBatcher(decideAll, MAX_BATCH);
  const fill = singleFlight(claim, (error) => ctx.log.error({ err: error }, 'claiming looks at sources failed'));

  async function claim() {
    while (!stopping.signal.aborted) {
      const free = MAX_LOOKS - looking.size;
      if (free <= 0) return;
      const claimed = await claimLooks(ctx, free);
      for (const one of claimed) looking.hold(one);
      if (claimed.length < free) return;
    }
  }

  async function look(claimed: ClaimedLook, signal: AbortSignal) {
    const loaded = { claimed, states: [] as Awaited<ReturnType<typeof loadStates>> };
    await load(loaded);
    const { id, userId, sources } = claimed;
    const looks = await lookAtSources(ctx, { id, userId, sources }, loaded.states);
    // Aborted: another process has the look, or the task was deleted.
    if (!signal.aborted) await decide({ claimed, looks });
  }

  async function loadAll(batch: { claimed: ClaimedLook; states: Awaited<ReturnType<typeof loadStates>> }[]) {
    const states = Map.groupBy(
      await loadStates(
        ctx,
        batch.map(({ claimed }) => claimed.id),
      ),
      ({ taskId }) => taskId,
    );
    for (const one of batch) one.states = states.get(one.claimed.id) ?? [];
  }

  async function decideAll(batch: EndedLook[]) {
    await retryWhileUnavailable(() => decideLooks(ctx, batch), {
      maxWaitMs: MAX_WAIT_MS,
      signal: closing.signal,
      onRetry: (error) => ctx.log.error({ err: error }, 'storing looks at sources failed'),
    });
  }

  return {
    wake() {
      if (!stopping.signal.aborted) void ctx.trace.detached(fill);
    },
    start() {
      looking.start();
      intervals.every(POLL_MS, 'looking for due looks', () =>
        looking.trackOutage(async () => {
          if (await isAnyLookWaiting(ctx)) await fill();
        }),
      );
    },
    async drain() {
      for (;;) {
        await fill();
        if (looking.size === 0) return;
        await looking.waitUntilEnded();
      }
    },
    async stop() {
      stopping.abort();
      await intervals.stop();
      await fill();
      await looking.stop(graceMs, closing);
    },
  };
}
