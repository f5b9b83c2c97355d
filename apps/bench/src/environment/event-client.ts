import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

export interface ReceivedEvent {
  id: number;
  /** By `performance.now()`. */
  at: number;
}

export interface EventClient {
  status: number;
  close(): void;
  closed: Promise<unknown>;
}

/** Opens a live stream; `onEvent` is called for each event of the log. */
export async function openEvents(
  apiUrl: string,
  { token, after }: { token: string; after?: number | undefined },
  onEvent: (event: ReceivedEvent) => void,
): Promise<EventClient> {
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${token}`,
    ...(after === undefined ? {} : { 'last-event-id': String(after) }),
  };
  const request = get(`${apiUrl}/api/events`, { headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => {});
  const closed = new Promise((resolve) => response.once('close', resolve).once('error', resolve));
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const [, id] = /^id: (\d+)\nevent: (?!reset)/.exec(frame) ?? [];
      if (id !== undefined) onEvent({ id: Number(id), at: performance.now() });
    }
  });
  return { status: response.statusCode ?? 0, close: () => request.destroy(), closed };
}
