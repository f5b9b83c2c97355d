import { connect, type NetConnectOpts, type Socket } from 'node:net';
import postgres from 'postgres';
import { parseDatabaseUrl } from './database-url.ts';

/** Opens a client of the driver, which connects with its first statement. Throws a `DatabaseUrlError`. */
export function openPostgres(databaseUrl: string, options: postgres.Options<Record<string, never>>) {
  const { url, ssl } = parseDatabaseUrl(databaseUrl);
  return postgres(url, ssl ? { ...options, ssl } : options);
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
