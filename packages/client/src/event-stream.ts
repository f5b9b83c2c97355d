import { ApiError, ConnectionError, InvalidResponseError } from './errors.ts';
import { EventParser, type ServerSentEvent } from './event-parser.ts';
import type { Settings } from './options.ts';
import {
  describeInvalid,
  isNetworkError,
  openResponse,
  parseJson,
  type Request,
  TEMPORARY_STATUSES,
} from './request.ts';
import { type Deadline, openDeadline } from './waiting.ts';

export interface OpenStream {
  /** `lastId` and `retryMs` are those that the server has sent so far. */
  readonly parser: EventParser;
  /** Ends when the server closes the stream. Throws a `TimeoutError` if nothing arrives for `idleMs`. */
  readonly events: AsyncGenerator<ServerSentEvent, void, undefined>;
}

/** Sends a request for a stream of events. Throws for a response that is not a stream. */
export async function openEventStream(settings: Settings, request: Request, idleMs: number): Promise<OpenStream> {
  const { signal } = request.options ?? {};
  const name = `${request.method} ${request.path}`;
  const deadline = openDeadline(idleMs, signal, `${name} sent nothing`);
  try {
    const response = await openResponse(settings, { ...request, accept: 'text/event-stream' }, deadline);
    const { body, headers } = response;
    if (!body || !/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) {
      throw describeInvalid(name, response, 'without a stream of events');
    }
    const parser = new EventParser();
    return { parser, events: readEvents(body, parser, deadline, name) };
  } catch (error) {
    deadline.close();
    throw error;
  }
}

async function* readEvents(
  body: ReadableStream<Uint8Array>,
  parser: EventParser,
  deadline: Deadline,
  name: string,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      deadline.restart();
      const { done, value } = await deadline.guard(reader.read()).catch((error) => {
        throw deadline.signal.aborted
          ? error
          : new ConnectionError(`The stream of ${name} was cut off.`, { cause: error });
      });
      deadline.pause();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    // Closes the connection, also if the caller stops reading.
    deadline.close();
    reader.cancel().catch(() => {});
  }
}

/** Parses the data of an event. Throws for anything but a JSON object. */
export function parseEventData(event: ServerSentEvent): object {
  const data = parseJson(event.data);
  if (typeof data === 'object' && data !== null) return data;
  throw new InvalidResponseError(`The stream has an event ${JSON.stringify(event.event)} whose data is not JSON.`);
}

/** Whether opening a stream again may help. A program that reads for days also outlasts a bug of the server. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof ApiError ? TEMPORARY_STATUSES.includes(error.status) || error.status === 500 : isNetworkError(error);
