import { createConnection, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { Egress } from './policy.ts';
import type { Lookup } from './resolver.ts';

/** How many addresses of a name are tried, and how long each before the next. */
const MOST_ATTEMPTS = 4;
const ATTEMPT_MS = 1000;
const SESSIONS = 256;
const SOCKET = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };

/** Nothing was sent, and no connection made: the host has no address that may be reached. */
export class NotAdmitted extends Error {}

export interface Connector {
  connect: buildConnector.connector;
  /** Connections that stand or are being made. */
  readonly size: number;
  /** Ends those that are being made; the others belong to who asked for them. */
  close(): void;
}

/**
 * Makes the connections for undici. A hook into the look-up of names alone would not do, as literal addresses never get
 * there. A name is resolved once for each connection; unless all of its addresses are admitted, none is tried. The
 * connection goes to one of the very addresses that were looked at, and where it ended is looked at once more before
 * anything is sent (security T1, T2).
 */
export function createConnector(egress: Egress, lookup: Lookup, connectMs: number): Connector {
  const sockets = new Set<Socket>();
  const closing = new AbortController();
  const secure = buildConnector({
    allowH2: false,
    maxCachedSessions: SESSIONS,
    rejectUnauthorized: true,
    timeout: 0,
  });

  const connect: buildConnector.connector = (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const ended = new AbortController();
    let socket: Socket | undefined;

    const end = (error: Error | null, connected?: Socket) => {
      if (ended.signal.aborted) return;
      ended.abort();
      clearTimeout(deadline);
      closing.signal.removeEventListener('abort', close);
      if (connected) return callback(null, connected);
      socket?.destroy();
      callback(error ?? new Error('closed'), null);
    };
    const close = () => end(null);
    const deadline = setTimeout(end, connectMs, new Error('late'));
    closing.signal.addEventListener('abort', close);
    if (closing.signal.aborted) return close();

    const open = (addresses: readonly string[]) => {
      if (ended.signal.aborted) return;
      const dialled = dial(options.hostname, addresses, port);
      socket = dialled;
      sockets.add(dialled);
      dialled.once('close', () => sockets.delete(dialled));
      dialled.on('error', end);
      dialled.once('connect', () => {
        const { remoteAddress, remotePort } = dialled;
        if (remoteAddress === undefined || remotePort === undefined) return end(new Error('gone'));
        if (!egress.admits(remoteAddress, remotePort)) return end(new NotAdmitted());
        if (options.protocol !== 'https:') return end(null, dialled);
        secure({ ...options, httpSocket: dialled }, (error, secured) => end(error, secured ?? undefined));
      });
    };
    findAddresses(egress, lookup, { host: options.hostname, port, signal: ended.signal }).then(open).catch(end);
  };

  return {
    connect,
    get size() {
      return sockets.size;
    },
    close: () => closing.abort(),
  };
}

interface Sought {
  host: string;
  port: number;
  signal: AbortSignal;
}

async function findAddresses(egress: Egress, lookup: Lookup, { host, port, signal }: Sought) {
  const isAdmitted = (address: string) => egress.admits(address, port);
  const known = egress.knownAddresses(host)?.filter(isAdmitted);
  const found = known ?? (await lookup(host, signal).catch(() => []));
  // A name with one address inside and one outside is a trap, or a mistake that would go on to fail at random.
  if (found.length === 0 || !found.every(isAdmitted)) throw new NotAdmitted();
  return found.slice(0, MOST_ATTEMPTS);
}

function dial(host: string, addresses: readonly string[], port: number): Socket {
  const [first = '', ...others] = addresses;
  if (others.length === 0) return createConnection({ ...SOCKET, host: first, port });
  const pinned: LookupFunction = (_host, _options, found) =>
    found(
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
