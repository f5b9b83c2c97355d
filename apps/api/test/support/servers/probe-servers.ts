import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { loadConfig } from '../../../src/config/config.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../../src/egress/client.ts';
import type { Lookup } from '../../../src/egress/resolver.ts';
import { PRODUCTION_ENV } from '../production.ts';

interface Test {
  after(work: () => unknown): unknown;
}

export interface ProbeServer {
  port: number;
  /** How often somebody has connected. */
  readonly connections: number;
  /** How many were connected at the same time. */
  readonly maxConnections: number;
  /** Resolves when nobody is connected any more. */
  allClosed(): Promise<void>;
}

/** A receiver that speaks HTTP, at `127.0.0.1` unless told; it goes away at the end of `t`. */
export function startProbeServer(t: Test, answer: RequestListener, host = '127.0.0.1', port = 0): Promise<ProbeServer> {
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, answer);
  return startListening(t, server, host, port);
}

/** A receiver that is handed the bare connection, and does not wait for what it may say. */
export function startRawProbeServer(t: Test, talk: (socket: Socket) => void): Promise<ProbeServer> {
  const server = createServer((socket) => {
    // Else it would not notice the end of the connection either.
    socket.resume();
    talk(socket);
  });
  return startListening(t, server, '127.0.0.1', 0);
}

/** Makes a receiver of any server, such as one of TLS. */
export async function startListening(t: Test, server: Server, host: string, port: number): Promise<ProbeServer> {
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
    get maxConnections() {
      return most;
    },
    allClosed: () =>
      new Promise((resolve) => {
        check = () => (open.size === 0 ? resolve() : undefined);
        check();
      }),
  };
}

/** Listens at every address of this machine, of IPv6 too where it has that, and answers 200. */
export async function startWildcardServer(t: Test): Promise<ProbeServer> {
  const answer: RequestListener = (_, response) => response.end();
  return startProbeServer(t, answer, '::').catch(() => startProbeServer(t, answer, '0.0.0.0'));
}

/** Counts the connections that this process tries, whether or not anybody is there. */
export function countConnectionAttempts(t: Test): { count: number } {
  const attempts = { count: 0 };
  const count = () => {
    attempts.count += 1;
  };
  subscribe('net.client.socket', count);
  t.after(() => unsubscribe('net.client.socket', count));
  return attempts;
}

export interface TestClientOptions extends HttpClientOptions {
  env?: Record<string, string>;
}

/** HTTP to user-given addresses, in development unless `env` says otherwise; it goes away at the end of `t`. */
export function createTestHttpClient(t: Test, { env = {}, ...options }: TestClientOptions = {}): HttpClient {
  const http = createHttpClient(loadConfig({ ...PRODUCTION_ENV, NODE_ENV: 'test', ...env }), options);
  t.after(() => http.close());
  return http;
}

/** Name servers that know these names; `asked` is what they were asked. */
export function createFakeLookup(names: Record<string, readonly string[]>): { lookup: Lookup; asked: string[] } {
  const asked: string[] = [];
  const lookup: Lookup = async (name) => {
    asked.push(name);
    return names[name] ?? [];
  };
  return { lookup, asked };
}

/** A request as small as it gets. */
export const buildPost = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: '{}' });
