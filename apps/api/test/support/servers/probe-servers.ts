import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { loadConfig } from '../../../src/config/config.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../../src/egress/client.ts';
import type { Lookup } from '../../../src/egress/resolver.ts';
import { PRODUCTION } from '../production.ts';

interface Test {
  after(work: () => unknown): unknown;
}

export interface Receiver {
  port: number;
  /** How often somebody has connected. */
  readonly connections: number;
  /** How many were connected at the same time. */
  readonly most: number;
  /** Resolves when nobody is connected any more. */
  deserted(): Promise<void>;
}

/** A receiver that speaks HTTP, at `127.0.0.1` unless told; it goes away at the end of `t`. */
export function startReceiver(t: Test, answer: RequestListener, host = '127.0.0.1', port = 0): Promise<Receiver> {
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, answer);
  return listen(t, server, host, port);
}

/** A receiver that is handed the bare connection, and does not wait for what it may say. */
export function startRawReceiver(t: Test, talk: (socket: Socket) => void): Promise<Receiver> {
  const server = createServer((socket) => {
    // Else it would not notice the end of the connection either.
    socket.resume();
    talk(socket);
  });
  return listen(t, server, '127.0.0.1', 0);
}

/** Makes a receiver of any server, such as one of TLS. */
export async function listen(t: Test, server: Server, host: string, port: number): Promise<Receiver> {
  const open = new Set<Socket>();
  let connections = 0;
  let most = 0;
  let check = () => {};
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    most = Math.max(most, open.size);
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      check();
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get most() {
      return most;
    },
    deserted: () =>
      new Promise((resolve) => {
        check = () => (open.size === 0 ? resolve() : undefined);
        check();
      }),
  };
}

/** Listens at every address of this machine, of IPv6 too where it has that, and answers 200. */
export async function startCanary(t: Test): Promise<Receiver> {
  const answer: RequestListener = (_, response) => response.end();
  return startReceiver(t, answer, '::').catch(() => startReceiver(t, answer, '0.0.0.0'));
}

/** Counts the connections that this process tries, whether or not anybody is there. */
export function countAttempts(t: Test): { count: number } {
  const attempts = { count: 0 };
  const count = () => {
    attempts.count += 1;
  };
  subscribe('net.client.socket', count);
  t.after(() => unsubscribe('net.client.socket', count));
  return attempts;
}

export interface Setting extends HttpClientOptions {
  env?: Record<string, string>;
}

/** HTTP to user-given addresses, in development unless `env` says otherwise; it goes away at the end of `t`. */
export function httpFor(t: Test, { env = {}, ...options }: Setting = {}): HttpClient {
  const http = createHttpClient(loadConfig({ ...PRODUCTION, NODE_ENV: 'test', ...env }), options);
  t.after(() => http.close());
  return http;
}

/** Name servers that know these names; `asked` is what they were asked. */
export function nameServers(names: Record<string, readonly string[]>): { lookup: Lookup; asked: string[] } {
  const asked: string[] = [];
  const lookup: Lookup = async (name) => {
    asked.push(name);
    return names[name] ?? [];
  };
  return { lookup, asked };
}

/** A request as small as it gets. */
export const postTo = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: '{}' });
