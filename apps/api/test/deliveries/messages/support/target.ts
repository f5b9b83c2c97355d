import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Context } from '../../../../src/context.ts';
import { createHttpClient } from '../../../../src/lib/egress/client.ts';
import type { ChannelMessage } from '../../../../src/product/deliveries/messages/message.ts';

export interface TargetRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface TargetAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is a string. */
  body?: unknown;
}

export interface TargetServer {
  url: string;
  /** Of the requests that were accepted, oldest first. */
  received: TargetRequest[];
  /** The answer to the next request, instead of what the target says of it. */
  answerNext(answer: TargetAnswer): void;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

export const NOW = new Date('2026-11-20T10:00:00.000Z');

/** Starts a server that answers as `judge` says. Stops at the end of `t`. */
export async function startTarget(t: Test, judge: (request: TargetRequest) => TargetAnswer): Promise<TargetServer> {
  const received: TargetRequest[] = [];
  const next: TargetAnswer[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, body: await text(request) };
    const { status, headers: extra, body = '' } = next.shift() ?? judge(one);
    if (status < 300) received.push(one);
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...extra });
    response.end(isText ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, answerNext: (answer) => next.push(answer) };
}

/** What a kind needs of a context: the client, and a clock that stands still. */
export function buildSenderContext(t: Test): Context {
  const base = { production: false, baseUrl: 'http://127.0.0.1:3000', appUrl: 'http://127.0.0.1:3000', port: 3000 };
  const http = createHttpClient({ ...base, egressAllow: [{ address: '127.0.0.0', bits: 8, port: null }] });
  t.teardown(() => http.close());
  return { http, now: () => NOW } as unknown as Context;
}

/** A message with an answer that has everything, unless `given` says otherwise. */
export const buildMessage = (given: Partial<ChannelMessage> = {}): ChannelMessage => ({
  reader: { language: 'en', timezone: null },
  level: 'success',
  title: 'Prices',
  text: null,
  markdown: 'It costs **11.9**.',
  citations: [],
  changes: [],
  items: [],
  at: NOW,
  url: 'https://carillon.example.com/executions/7',
  ...given,
});
