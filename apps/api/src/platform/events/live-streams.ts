import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { createBatcher } from '../../lib/queue/loops.ts';
import { recordRejection } from '../limits/rejections.ts';
import { createLiveStream, type LiveStream } from './live-stream.ts';
import { readNewEvents } from './new-events.ts';
import type { EventFilter } from './read.ts';
import { endLeases, LEASE_MS, MAX_STREAMS_PER_USER, openLease, renewLeases } from './stream-leases.ts';
import { findStreamStart } from './stream-start.ts';

const MAX_STREAMS = 1000;
/** Of all readers, so that many slow ones do not use up the memory of the process. */
const MAX_BUFFERED_BYTES = 128 * 1024 * 1024;
const POLL_MS = 100;
/** Old events are read in several parts. */
const POLL_AGAIN_MS = 10;
const POLL_AFTER_FAILURE_MS = 1000;
const RENEW_MS = LEASE_MS / 3;
const KEEP_ALIVE_MS = 15_000;

export interface StreamOptions {
  /** Null begins now. */
  after: number | null;
  filter: EventFilter;
}

interface LiveStreams {
  /** Throws 429 beyond the streams of a user, 503 beyond the streams of a process. */
  open(ctx: Context, caller: Caller, options: StreamOptions): Promise<Readable>;
  /** Ends all streams at once, and those that are opened later. */
  endAll(): void;
  /** Resolves when all have ended. */
  stop(): Promise<void>;
}

export interface LiveStreamsOptions {
  maxStreams?: number;
  maxBufferedBytes?: number;
  keepAliveMs?: number;
  renewMs?: number;
}

/** The streams of this process. While there are any, a loop looks for new events of all of them in one statement. */
export function createLiveStreams(ctx: Context, options: LiveStreamsOptions = {}): LiveStreams {
  const { maxStreams = MAX_STREAMS, maxBufferedBytes = MAX_BUFFERED_BYTES } = options;
  const { keepAliveMs = KEEP_ALIVE_MS, renewMs = RENEW_MS } = options;
  const streams = new Set<LiveStream>();
  const endings = new Set<Promise<void>>();
  const endLease = createBatcher((ids: string[]) => endLeases(ctx, ids), MAX_STREAMS);
  const { stopping } = ctx.worker;
  let opening = 0;
  let isStopping = false;
  let running: Promise<void> | null = null;
  ctx.metrics.inFlight('streams', () => streams.size);
  stopping.addEventListener('abort', endAll);

  function endAll() {
    isStopping = true;
    for (const stream of streams) stream.end();
  }

  function add(stream: LiveStream): Readable {
    streams.add(stream);
    stream.body.once('close', () => {
      streams.delete(stream);
      const ending = endLease(stream.leaseId)
        .catch((error) => ctx.log.warn({ err: error }, 'the lease of a live stream was not ended and expires'))
        .finally(() => endings.delete(ending));
      endings.add(ending);
    });
    // Instead of an error, after which a browser would not connect again.
    if (isStopping || stopping.aborted) stream.end();
    running ??= ctx.trace.detached(run);
    return stream.body;
  }

  async function run() {
    let renewedAt = performance.now();
    let keptAliveAt = renewedAt;
    let isFailing = false;
    while (streams.size > 0) {
      let waitMs = POLL_MS;
      const now = performance.now();
      try {
        if (now - renewedAt >= renewMs) {
          await renew();
          renewedAt = now;
        }
        if (await passOnNewEvents()) waitMs = POLL_AGAIN_MS;
        isFailing = false;
      } catch (error) {
        if (!isFailing) ctx.log.error({ err: error }, 'reading events for live streams failed');
        isFailing = true;
        waitMs = POLL_AFTER_FAILURE_MS;
        // Whether their callers still have access is not known.
        if (now - renewedAt >= LEASE_MS) for (const stream of streams) stream.end();
      }
      if (now - keptAliveAt >= keepAliveMs) {
        keptAliveAt = now;
        for (const stream of streams) stream.keepAlive();
      }
      await delay(waitMs);
    }
    running = null;
  }

  async function renew() {
    const open = [...streams];
    const held = await renewLeases(
      ctx,
      open.map(({ leaseId }) => leaseId),
    );
    for (const stream of open) if (!held.has(stream.leaseId)) stream.end();
  }

  /** Returns whether there are more. */
  async function passOnNewEvents(): Promise<boolean> {
    const toKey = ({ userId, after }: { userId: number; after: number }) => `${userId} ${after}`;
    const waiting = Map.groupBy(
      [...streams].filter(({ wantsEvents }) => wantsEvents),
      toKey,
    );
    if (waiting.size === 0) return false;
    let hasMore = false;
    let bufferedBytes = sumBufferedBytes([...streams]);
    const cursors = [...waiting.values()].map(([stream]) => stream as LiveStream);
    await readNewEvents(ctx, cursors, (found) => {
      const group = waiting.get(toKey(found.cursor)) ?? [];
      bufferedBytes -= sumBufferedBytes(group);
      let count = 0;
      for (const stream of group) count += stream.add(found);
      bufferedBytes += sumBufferedBytes(group);
      if (bufferedBytes > maxBufferedBytes) bufferedBytes = cutOffSlowest();
      ctx.metrics.eventsStreamed(count);
      hasMore ||= (found.events.at(-1)?.id ?? found.lastId) < found.lastId;
    });
    return hasMore;
  }

  /** Cuts off those for whom most bytes wait, down to three quarters of the limit. Returns how many bytes still wait. */
  function cutOffSlowest(): number {
    const slowestFirst = [...streams].sort((a, b) => getBufferedBytes(b) - getBufferedBytes(a));
    let bytes = sumBufferedBytes(slowestFirst);
    let count = 0;
    for (const stream of slowestFirst) {
      if (bytes <= 0.75 * maxBufferedBytes) break;
      bytes -= getBufferedBytes(stream);
      stream.body.destroy();
      count += 1;
    }
    ctx.log.warn({ streams: count, maxBufferedBytes }, 'slow readers of live streams were cut off to free memory');
    return bytes;
  }

  return {
    async open(by, caller, { after, filter }) {
      if (streams.size + opening >= maxStreams) {
        throw new AppError('unavailable', `This process has ${maxStreams} live streams open.`, undefined, 5);
      }
      opening += 1;
      try {
        // A lease that is not used expires.
        const [start, leaseId] = await Promise.all([findStreamStart(by, caller, after), openLease(by, caller)]);
        if (leaseId === null) throw await refuse(by, caller);
        return add(createLiveStream({ userId: caller.id, leaseId, filter, ...start }));
      } finally {
        opening -= 1;
      }
    },
    endAll,
    async stop() {
      stopping.removeEventListener('abort', endAll);
      endAll();
      await running;
      await Promise.all(endings);
    },
  };
}

const getBufferedBytes = ({ body }: LiveStream): number => (body.destroyed ? 0 : body.readableLength);

const sumBufferedBytes = (streams: readonly LiveStream[]): number =>
  streams.reduce((sum, stream) => sum + getBufferedBytes(stream), 0);

async function refuse(ctx: Context, { id: userId }: Caller): Promise<AppError> {
  await recordRejection(ctx, 'live streams', { userId, endpoint: 'GET /api/events' });
  const seconds = LEASE_MS / 1000;
  return new AppError('rate_limited', `You have ${MAX_STREAMS_PER_USER} live streams open. Close one first.`, {
    limit: MAX_STREAMS_PER_USER,
    remaining: 0,
    reset: ctx.now().getTime() + LEASE_MS,
    resetIn: seconds,
    retryAfter: seconds,
  });
}
