import { connect, type NetConnectOpts, type Socket } from 'node:net';
import postgres from 'postgres';
import { isSocketFolder, parseDatabaseUrl } from './database-url.ts';

type Options = postgres.Options<Record<string, never>>;

const DEFAULT_PORT = 5432;

/** Opens a client of the driver, which connects with its first statement. Throws a `DatabaseUrlError`. */
export function openPostgres(databaseUrl: string, options: Options) {
  const { url, ssl } = parseDatabaseUrl(databaseUrl);
  const address = readAddress(url);
  return postgres(url, {
    ...(address.path && { socket: openSocket }),
    ...options,
    ...(ssl && { ssl }),
    ...(address as Options),
  });
}

/** Opens a client with one connection for a few statements, which are not prepared: some poolers lose them. */
export const openSingleConnection = (databaseUrl: string, options: Options = {}) =>
  openPostgres(databaseUrl, {
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 5,
    max_lifetime: null,
    onnotice: () => {},
    ...options,
  });

/** The driver would look up an IPv6 address with its brackets, or the percent-encoded folder of a socket, as a name. */
function readAddress(url: string): { host?: string[]; port?: number[]; path?: string } {
  const { hostname, port: given } = new URL(url);
  const port = Number(given) || DEFAULT_PORT;
  if (isSocketFolder(hostname)) return { path: `${decodeURIComponent(hostname)}/.s.PGSQL.${port}` };
  return hostname.startsWith('[') ? { host: [hostname.slice(1, -1)], port: [port] } : {};
}

interface Addresses {
  host: string[];
  port: number[];
  path?: string | undefined;
}

/** For the driver's option `socket`. Its own socket delays small messages until earlier ones are acknowledged. */
export function openSocket({ host, port, path }: Addresses): Socket {
  const address = path ? { path } : { host: host[0], port: port[0] };
  const socket = connect({ ...address, noDelay: true } as NetConnectOpts);
  socket.once('error', (error: NodeJS.ErrnoException) => {
    // A server that does not run has no socket.
    if (error.code === 'ENOENT') error.code = 'ECONNREFUSED';
  });
  // The driver checks a certificate against the address on the socket.
  return Object.assign(socket, address);
}
