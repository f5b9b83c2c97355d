import { createConnection, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { EgressPolicy } from './policy.ts';
import type { Lookup } from './resolver.ts';

const MAX_ATTEMPTS = 4;
const ATTEMPT_MS = 1000;
const MAX_TLS_SESSIONS = 256;
const SOCKET = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };

export class NoAllowedAddress extends Error {}

export interface Connector {
  connect: buildConnector.connector;
  readonly size: number;
  /** Ends connection attempts; the pools close open connections. */
  close(): void;
}

/** Checks literal addresses too, and the remote address again before anything is sent. */
export function createConnector(policy: EgressPolicy, lookup: Lookup, connectMs: number): Connector {
  const sockets = new Set<Socket>();
  const closing = new AbortController();
  const startTls = buildConnector({
    allowH2: false,
    maxCachedSessions: MAX_TLS_SESSIONS,
    rejectUnauthorized: true,
    timeout: 0,
  });

  const connect: buildConnector.connector = (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const finished = new AbortController();
    let socket: Socket | undefined;

    const finish = (error: Error | null, connected?: Socket) => {
      if (finished.signal.aborted) return;
      finished.abort();
      clearTimeout(timer);
      closing.signal.removeEventListener('abort', close);
      if (connected) return callback(null, connected);
      socket?.destroy();
      callback(error ?? new Error('closed'), null);
    };
    const close = () => finish(null);
    const timer = setTimeout(finish, connectMs, new Error('connection timed out'));
    closing.signal.addEventListener('abort', close);
    if (closing.signal.aborted) return close();

    const openSocket = (addresses: readonly string[]) => {
      if (finished.signal.aborted) return;
      const opened = createSocket(options.hostname, addresses, port);
      socket = opened;
      sockets.add(opened);
      opened.once('close', () => sockets.delete(opened));
      opened.on('error', finish);
      opened.once('connect', () => {
        const { remoteAddress, remotePort } = opened;
        if (remoteAddress === undefined || remotePort === undefined) return finish(new Error('disconnected'));
        if (!policy.allows(remoteAddress, remotePort)) return finish(new NoAllowedAddress());
        if (options.protocol !== 'https:') return finish(null, opened);
        startTls({ ...options, httpSocket: opened }, (error, secured) => finish(error, secured ?? undefined));
      });
    };
    resolveAllowed(policy, lookup, { host: options.hostname, port, signal: finished.signal })
      .then(openSocket)
      .catch(finish);
  };

  return {
    connect,
    get size() {
      return sockets.size;
    },
    close: () => closing.abort(),
  };
}

interface Target {
  host: string;
  port: number;
  signal: AbortSignal;
}

async function resolveAllowed(policy: EgressPolicy, lookup: Lookup, { host, port, signal }: Target) {
  const isAllowed = (address: string) => policy.allows(address, port);
  const local = policy.findLocalAddresses(host)?.filter(isAllowed);
  const addresses = local ?? (await lookup(host, signal).catch(() => []));
  // A name with a public and a private address is a trap, or a mistake that fails at random.
  if (addresses.length === 0 || !addresses.every(isAllowed)) throw new NoAllowedAddress();
  return addresses.slice(0, MAX_ATTEMPTS);
}

function createSocket(host: string, addresses: readonly string[], port: number): Socket {
  const [first = '', ...others] = addresses;
  if (others.length === 0) return createConnection({ ...SOCKET, host: first, port });
  const pinned: LookupFunction = (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  return createConnection({
    ...SOCKET,
    host,
    port,
    lookup: pinned,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
  });
}
