import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { until } from './until.ts';

export interface Frame {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
  /** The text of a comment. */
  comment?: string;
}

export interface Stream {
  status: number;
  headers: IncomingMessage['headers'];
  frames: Frame[];
  /** Without the first frame and comments. */
  events(): { id: string; event: string; data: { n: number } }[];
  /** The id with which a client connects again. */
  lastId(): string | undefined;
  /** The whole body of an answer that is not a stream. */
  body(): string;
  isOpen(): boolean;
  close(): void;
  /** Waits for so many events in all. */
  waitFor(events: number): Promise<void>;
  ended: Promise<void>;
  response: IncomingMessage;
}

interface StreamRequest {
  headers?: Record<string, string>;
  query?: string;
  lastEventId?: string;
  path?: string;
  /** Receives nothing until `response.resume()`. */
  isPaused?: boolean;
}

/** Connects to the live stream of a server as a client does; the connection ends with `close`. */
export async function openStream(url: string, given: StreamRequest): Promise<Stream> {
  const { headers = {}, query = '', lastEventId, path = '/api/events', isPaused = false } = given;
  const sent = request(`${url}${path}${query}`, {
    agent: false,
    headers: {
      accept: 'text/event-stream',
      ...headers,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const frames: Frame[] = [];
  let text = '';
  let isOpen = true;
  let rest = '';
  if (!isPaused) {
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += frames.length === 0 ? chunk : '';
      const parts = (rest + chunk).split('\n\n');
      rest = parts.pop() ?? '';
      frames.push(...parts.map(parseFrame));
    });
  }
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isOpen = false;
      resolve();
    };
    response.once('close', end).once('error', end);
  });
  sent.on('error', () => {});
  const events = () =>
    frames
      .filter(({ data, event }) => data !== undefined && event !== 'reset')
      .map(({ data }) => JSON.parse(data as string));
  const stream: Stream = {
    status: response.statusCode ?? 0,
    headers: response.headers,
    frames,
    events,
    lastId: () => frames.findLast(({ id }) => id !== undefined)?.id,
    body: () => text,
    isOpen: () => isOpen,
    close: () => sent.destroy(),
    waitFor: (count) => until(() => events().length >= count, 20_000),
    ended,
    response,
  };
  if (stream.status !== 200) await ended;
  else if (!isPaused) await until(() => frames.length > 0, 20_000);
  return stream;
}

function parseFrame(block: string): Frame {
  return Object.fromEntries(
    block.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [at === 0 ? 'comment' : line.slice(0, at), line.slice(at + 2)];
    }),
  );
}
