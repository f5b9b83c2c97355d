import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { loadConfig } from '../../../src/lib/config/config.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../../src/lib/egress/client.ts';
import type { Lookup } from '../../../src/lib/egress/resolver.ts';
import { PRODUCTION_ENV } from '../production.ts';

interface Test {
  after(work: () => unknown): unknown;
}

export interface ProbeServer {
  port: number;
  /** The number of connections so far. */
  readonly connections: number;
  readonly maxConnections: number;
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>;
}

/** Starts an HTTP server that counts its connections. Stops at the end of `t`. */
export function startProbeServer(t: Test, answer: RequestListener, host = '127.0.0.1', port = 0): Promise<ProbeServer> {
  const server = createHttpServer({ keepAliveTimeout: 60_000 }, answer);
  return startListening(t, server, host, port);
}

/** Starts a TCP server whose `talk` gets the raw connection. */
export function startRawProbeServer(t: Test, talk: (socket: Socket) => void): Promise<ProbeServer> {
  const server = createServer((socket) => {
    // An unread socket never emits its end.
    socket.resume();
    talk(socket);
  });
  return startListening(t, server, '127.0.0.1', 0);
}

/** Starts any server, such as a TLS server, and counts its connections. */
export async function startListening(t: Test, server: Server, host: string, port: number): Promise<ProbeServer> {
  const open = new Set<Socket>();
  let connections = 0;
  let maxConnections = 0;
  let check = () => {};
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    maxConnections = Math.max(maxConnections, open.size);
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
      return maxConnections;
    },
    allClosed: () =>
      new Promise((resolve) => {
        check = () => (open.size === 0 ? resolve() : undefined);
        check();
      }),
  };
}

/** Starts an HTTP server on all IPv4 and IPv6 addresses of the machine. */
export async function startWildcardServer(t: Test): Promise<ProbeServer> {
  const answer: RequestListener = (_, response) => response.end();
  return startProbeServer(t, answer, '::').catch(() => startProbeServer(t, answer, '0.0.0.0'));
}

/** Counts the connection attempts of this process. */
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

/** Creates the client for user-given URLs. Default: in test mode. Closes at the end of `t`. */
export function createTestHttpClient(t: Test, { env = {}, ...options }: TestClientOptions = {}): HttpClient {
  const http = createHttpClient(loadConfig({ ...PRODUCTION_ENV, NODE_ENV: 'test', ...env }), options);
  t.after(() => http.close());
  return http;
}

/** A lookup of fixed names; `asked` records the queries. */
export function createFakeLookup(names: Record<string, readonly string[]>): { lookup: Lookup; asked: string[] } {
  const asked: string[] = [];
  const lookup: Lookup = async (name) => {
    asked.push(name);
    return names[name] ?? [];
  };
  return { lookup, asked };
}

export const buildPost = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: '{}' });
