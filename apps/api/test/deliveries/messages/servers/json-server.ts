import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface JsonRequest {
  path: string;
  headers: IncomingHttpHeaders;
  /** As sent. */
  text: string;
  body: Record<string, unknown>;
}

export interface JsonAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** Starts a server that answers JSON requests until the end of `t`; returns its URL. */
export async function startJsonServer(t: Test, answer: (request: JsonRequest) => JsonAnswer): Promise<string> {
  const server = createServer(async (request, response) => {
    const sent = await text(request);
    const { url: path = '', headers } = request;
    const { status, headers: extra, body } = answer({ path, headers, text: sent, body: JSON.parse(sent || '{}') });
    response.writeHead(status, { 'content-type': 'application/json', ...extra });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
