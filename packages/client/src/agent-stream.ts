import { buildApiError, ConnectionError } from './errors.ts';
import { openEventStream, parseEventData } from './event-stream.ts';
import type { RequestOptions, Settings } from './options.ts';
import type { Query } from './request.ts';

/** A piece of the content, or the complete response at the end. */
export type AgentEvent<Result> = { event: 'content'; text: string } | ({ event: 'done' } & Result);

/** Yields the pieces of an answer, then the whole. The request is sent once: a stream takes no idempotency key. */
export async function* streamAnswer<Result>(
  settings: Settings,
  path: string,
  { body, query }: { body: object; query: Query | undefined },
  options: RequestOptions = {},
): AsyncGenerator<AgentEvent<Result>, void, undefined> {
  const { timeoutMs = settings.timeoutMs } = options;
  const { events } = await openEventStream(settings, { method: 'POST', path, query, body, options }, timeoutMs);
  for await (const event of events) {
    const data = parseEventData(event);
    if (event.event === 'error') throw readError(data);
    if (event.event === 'content' || event.event === 'done')
      yield { event: event.event, ...data } as AgentEvent<Result>;
    if (event.event === 'done') return;
  }
  throw new ConnectionError(`The stream of POST ${path} ended before the answer was complete.`);
}

/** An error after the first piece has neither a status nor headers: its code is in the data. */
function readError(data: { code?: unknown }) {
  const code = typeof data.code === 'string' ? data.code : null;
  return buildApiError(data, { status: 503, code, requestId: null, retryAfterMs: null });
}
