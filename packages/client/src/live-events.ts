import { ApiError, EventsMissingError } from './errors.ts';
import { isTemporary, openEventStream, parseEventData } from './event-stream.ts';
import type { Settings } from './options.ts';
import { backoffMs, sleep } from './waiting.ts';
import type { EventKind } from './webhook-event.ts';

/** The server sends a comment every 15 seconds. */
const IDLE_MS = 45_000;
const DEFAULT_RETRY_MS = 2000;
const MAX_RETRY_MS = 30_000;

export interface StreamOptions<Kind extends EventKind = EventKind> {
  /** Begins after the event with this id. Default: now. */
  after?: string | undefined;
  /** Only these kinds of events. */
  kinds?: readonly Kind[] | undefined;
  /** Only events of this task. */
  taskId?: number | undefined;
  /** Ends the stream, without an error. */
  signal?: AbortSignal | undefined;
  /**
   * Called when events are missing because the last one that was received is no longer stored; the stream continues with
   * the oldest stored event. Without it, the stream throws an `EventsMissingError`.
   */
  onReset?: (() => void) | undefined;
  /** How many attempts to connect may fail in a row. Default: unlimited. */
  maxRetries?: number | undefined;
  /** The longest time without a byte before connecting again, in milliseconds. Default: 45,000. */
  timeoutMs?: number | undefined;
  headers?: Record<string, string> | undefined;
}

/**
 * Yields the events of the stream at `path`. Connects again when the connection ends, and continues after the last event:
 * each event comes once, in order. Ends when `signal` is aborted; throws for an error that a repetition cannot remove.
 */
export async function* streamEvents<Event extends { id: string }>(
  settings: Settings,
  path: string,
  options: StreamOptions = {},
): AsyncGenerator<Event, void, undefined> {
  const { kinds, taskId, signal, onReset, maxRetries = Number.POSITIVE_INFINITY, timeoutMs = IDLE_MS } = options;
  let lastId = options.after ?? '';
  let retryMs = DEFAULT_RETRY_MS;
  for (let failures = 0; !signal?.aborted; ) {
    let retryAfterMs = 0;
    try {
      const headers = { ...options.headers, ...(lastId !== '' && { 'last-event-id': lastId }) };
      const query = { kinds: kinds?.join(','), taskId };
      const { parser, events } = await openEventStream(
        settings,
        { method: 'GET', path, query, options: { headers, signal } },
        timeoutMs,
      );
      failures = 0;
      try {
        for await (const event of events) {
          // A log that ends before the last event was replaced, for example by a backup.
          const isReplaced = parser.startId !== null && isBefore(parser.startId, lastId);
          parser.startId = null;
          if (event.event === 'reset' || isReplaced) {
            if (!onReset) throw new EventsMissingError(`The events after ${lastId} are no longer stored.`);
            lastId = '';
            onReset();
          }
          const isRepeated = event.id !== '' && (event.id === lastId || isBefore(event.id, lastId));
          if (event.event !== 'reset' && !isRepeated) {
            lastId = event.id;
            yield parseEventData(event) as Event;
          }
        }
      } finally {
        // An id without an event says where the stream continues.
        if (parser.lastId !== '' && !isBefore(parser.lastId, lastId)) lastId = parser.lastId;
        retryMs = parser.retryMs ?? retryMs;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isTemporary(error) || failures >= maxRetries) throw error;
      retryAfterMs = (error instanceof ApiError && error.retryAfterMs) || 0;
    }
    const delay = Math.max(Math.min(Math.max(retryMs, retryAfterMs), MAX_RETRY_MS), backoffMs(failures++));
    await sleep(delay, signal).catch(() => {});
  }
}

const isNumber = (id: string) => /^\d+$/.test(id);

/** Ids are numbers that grow. */
const isBefore = (id: string, other: string): boolean => isNumber(id) && isNumber(other) && BigInt(id) < BigInt(other);
