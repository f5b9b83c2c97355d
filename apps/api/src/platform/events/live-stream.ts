import { Readable } from 'node:stream';
import type { NewEvents } from './new-events.ts';
import type { EventFilter } from './read.ts';

export const MAX_BUFFERED_BYTES = 1024 * 1024;
/** A reader of old events gets more when it has read this far. */
const LOW_BUFFERED_BYTES = 64 * 1024;
/** Clients wait so long before they connect again. */
const RETRY_MS = 2000;
/** What a reader has not read this long after the end is dropped. */
const END_MS = 1000;

export interface StreamStart {
  /** The stream begins with the event after this one. */
  after: number;
  /** Events between the given id and `after` are no longer stored. */
  isReset: boolean;
}

export interface LiveStream {
  readonly userId: number;
  readonly leaseId: string;
  readonly body: Readable;
  /** The latest event that was passed on or filtered out. */
  readonly after: number;
  /** False while it has old events to read before it gets more. */
  readonly wantsEvents: boolean;
  /** Returns how many events it passes on. A reader that does not read is cut off. */
  add(found: NewEvents): number;
  /** Cuts off a reader that has read nothing of what is buffered since the call before the last three. */
  keepAlive(): void;
  end(): void;
}

interface LiveStreamOptions extends StreamStart {
  userId: number;
  leaseId: string;
  filter: EventFilter;
}

/** An open stream of one client. Each of its ids leads to where it continues, also without events. */
export function createLiveStream({ userId, leaseId, filter, after, isReset }: LiveStreamOptions): LiveStream {
  let position = after;
  let shownPosition = after;
  /** Whether it has passed on everything once: from then on events arrive when they happen, not when they are read. */
  let isLive = false;
  let pushedBytes = 0;
  let readBytes = 0;
  let stuckCalls = 0;
  let hasEnded = false;
  const body = new Readable({ read() {} });

  function push(bytes: Buffer): void {
    if (body.destroyed || hasEnded) return;
    if (body.readableLength > 0 && body.readableLength + bytes.length > MAX_BUFFERED_BYTES) {
      body.destroy();
      return;
    }
    pushedBytes += bytes.length;
    body.push(bytes);
  }

  const start = `retry: ${RETRY_MS}\nid: ${after}\n`;
  push(Buffer.from(isReset ? `${start}event: reset\ndata: {"after":"${after}"}\n\n` : `${start}\n`));

  const isWanted = ({ kind, taskId }: NewEvents['events'][number]) =>
    (filter.kinds === null || filter.kinds.includes(kind)) && (filter.taskId === null || filter.taskId === taskId);

  return {
    userId,
    leaseId,
    body,
    get after() {
      return position;
    },
    get wantsEvents() {
      return !body.destroyed && !hasEnded && (isLive || body.readableLength < LOW_BUFFERED_BYTES);
    },
    add({ events, lastId }) {
      let passedOn = 0;
      for (const event of events) {
        position = event.id;
        if (!isWanted(event)) continue;
        push(event.frame);
        shownPosition = event.id;
        passedOn += 1;
      }
      isLive ||= position >= lastId;
      return passedOn;
    },
    keepAlive() {
      const read = pushedBytes - body.readableLength;
      stuckCalls = body.readableLength > 0 && read === readBytes ? stuckCalls + 1 : 0;
      readBytes = read;
      if (stuckCalls > 3) body.destroy();
      else push(Buffer.from(`: keep-alive\n${position > shownPosition ? `id: ${position}\n` : ''}\n`));
      shownPosition = position;
    },
    end() {
      if (hasEnded) return;
      hasEnded = true;
      if (!body.destroyed) body.push(null);
      setTimeout(() => body.destroy(), END_MS).unref();
    },
  };
}
