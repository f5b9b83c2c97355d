import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type ProbeServer, startListening } from './probe-servers.ts';

interface Test {
  after(work: () => unknown): unknown;
}

export interface ToolAnswer {
  status: number;
  body: unknown;
}

export interface ToolServer {
  url: string;
  requests: IncomingMessage[];
  /** Replaces the response, or restores it with null. */
  fail(fault: RequestListener | null): void;
  receiver: ProbeServer;
}

/** Starts a server that sends the JSON of `answer`. */
export async function startToolServer(t: Test, answer: (request: IncomingMessage) => ToolAnswer): Promise<ToolServer> {
  const requests: IncomingMessage[] = [];
  let fault: RequestListener | null = null;
  const server = createServer((request, response) => {
    requests.push(request);
    if (fault) return fault(request, response);
    const { status, body } = answer(request);
    sendJson(response, status, body);
  });
  const receiver = await startListening(t, server, '127.0.0.1', 0);
  return {
    url: `http://127.0.0.1:${receiver.port}`,
    requests,
    receiver,
    fail: (next) => {
      fault = next;
    },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
