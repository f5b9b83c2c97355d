import { connect, type NetConnectOpts, type Socket } from 'node:net';
import postgres from 'postgres';
import { parseDatabaseUrl } from './database-url.ts';

type Options = postgres.Options<Record<string, never>>;

const DEFAULT_PORT = 5432;

/** Opens a client of the driver, which connects with its first statement. Throws a `DatabaseUrlError`. */
export function openPostgres(databaseUrl: string, options: Options) {
  const { url, ssl } = parseDatabaseUrl(databaseUrl);
  return postgres(url, { ...options, ...(ssl && { ssl }), ...(readIpv6Address(url) as Options) });
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

/** The driver would look up the address with its brackets as a name. */
function readIpv6Address(url: string): { host?: string[]; port?: number[] } {
  const { hostname, port } = new URL(url);
  return hostname.startsWith('[') ? { host: [hostname.slice(1, -1)], port: [Number(port) || DEFAULT_PORT] } : {};
}

interface Addresses {
  host: string[];
  port: number[];
  path?: string | undefined;
}

/** For the driver's option `socket`. Its own socket delays small messages until earlier ones are acknowledged. */
export function openSocket({ host, port, path }: Addresses): Socket {
  const address = path ? { path } : { host: host[0], port: port[0] };
  // The driver checks a certificate against the address on the socket.
  return Object.assign(connect({ ...address, noDelay: true } as NetConnectOpts), address);
}
