import { type NetConnectOpts, connect as openSocket, type Socket } from 'node:net';
import postgres from 'postgres';
import { DatabaseUnavailable } from './errors.ts';

export interface ConnectionSettings {
  url: string;
  applicationName: string;
  /** A connection whose server is silent for so long although it was asked something is given up; a new one sooner. */
  deadlineMs: number;
  parsers: Record<number, (text: string) => unknown>;
  serializers: Record<number, (value: unknown) => unknown>;
}

/** Asks something of the client of one connection. */
export type Ask<T = unknown> = (sql: postgres.Sql) => PromiseLike<T>;

/** One connection to the server. Once it is lost it stays so: another one is opened in its place. */
export interface Connection {
  readonly isLost: boolean;
  readonly openedAt: number;
  /** For how long the server has owed us an answer; 0 where it owes none. */
  readonly owedMs: number;
  /**
   * Tells the answer. Rejects when the connection is lost, and with a `DatabaseUnavailable` at `until` (of `performance.now()`)
   * at the latest. `onSettled` is called when the connection itself is done with it. To be called from a microtask: the
   * driver then looks at the socket before anything else can close it.
   */
  run<T>(ask: Ask<T>, until: number, onSettled?: () => void): Promise<T>;
  /** Rejects what is late at `now`, and gives the connection up when it has been silent for too long. */
  watch(now: number): void;
  /** Breaks the connection; what runs on it rejects with `error`. */
  lose(error: Error): void;
  /** Says goodbye to the server and closes, which takes a second at most. */
  end(): Promise<void>;
}

/**
 * Opens a connection and waits until the server has answered on it, for three quarters of the deadline at most; rejects
 * with a `DatabaseUnavailable`.
 *
 * It is a client of postgres.js with one connection that is never made anew. Reconnecting by itself, the driver writes
 * into sockets that are gone, which ends the process, and can run the rest of a broken transaction outside of one
 * (porsager/postgres issues 1133, 1154 and 1208); nor does it ever give up a connection that does not answer.
 */
export async function openConnection(
  settings: ConnectionSettings,
  onLost: (error: Error) => void,
): Promise<Connection> {
  const asked = new Set<{ until: number; reject(error: Error): void }>();
  let lost: Error | null = null;
  let socket: Socket | undefined;
  /** Since when the server owes us the answer to what was asked first. */
  let owesSince = 0;

  const connection: Connection = {
    openedAt: performance.now(),
    get isLost() {
      return lost !== null;
    },
    get owedMs() {
      return asked.size === 0 ? 0 : performance.now() - owesSince;
    },
    run(ask, until, onSettled) {
      return new Promise((resolve, reject) => {
        if (lost) return reject(lost);
        const one = { until, reject };
        if (asked.size === 0) owesSince = performance.now();
        asked.add(one);
        const settle = () => {
          asked.delete(one);
          owesSince = performance.now();
          onSettled?.();
        };
        ask(sql).then(
          (answer) => {
            settle();
            resolve(answer);
          },
          (error) => {
            settle();
            reject(isOfSocket(error) ? away(error, 'The connection to the database broke.') : error);
          },
        );
      });
    },
    watch(now) {
      if (asked.size > 0 && now - owesSince > settings.deadlineMs) return connection.lose(timedOut());
      for (const { until, reject } of asked) {
        if (until > now) return;
        reject(timedOut());
      }
    },
    lose(error) {
      if (lost) return;
      lost = error;
      socket?.destroy();
      for (const { reject } of asked) reject(error);
      onLost(error);
    },
    async end() {
      await sql.end({ timeout: 1 });
      connection.lose(closed());
    },
  };
  const sql = createClient(settings, {
    socket: ({ host, port, path }) => {
      if (lost || socket) throw closed();
      const address = path ? { path } : { host: host[0], port: port[0] };
      // The name is what the driver checks a certificate against.
      socket = Object.assign(openSocket({ ...address, noDelay: true } as NetConnectOpts), address);
      return socket;
    },
    onclose: () => connection.lose(closed()),
  });

  const timer = setTimeout(() => connection.lose(timedOut()), settings.deadlineMs * 0.75);
  try {
    await connection.run((sql) => sql.unsafe('select 1'), Number.POSITIVE_INFINITY);
    return connection;
  } catch (error) {
    connection.lose(error as Error);
    throw away(error, 'The database cannot be connected to.');
  } finally {
    clearTimeout(timer);
  }
}

interface Hooks {
  socket(options: { host: string[]; port: number[]; path?: string }): Socket;
  onclose(): void;
}

function createClient({ url, applicationName, deadlineMs, parsers, serializers }: ConnectionSettings, hooks: Hooks) {
  const options: postgres.Options<Record<string, never>> & Hooks = {
    max: 1,
    fetch_types: false,
    connect_timeout: 0,
    idle_timeout: 0,
    max_lifetime: null,
    backoff: () => 0,
    onnotice: () => {},
    // Applied once for each prepared statement, to its column names.
    transform: { column: { from: postgres.toCamel } },
    connection: {
      application_name: applicationName,
      // A server that is alive says no before we give the connection up, and keeps nothing running for nobody.
      statement_timeout: Math.round(deadlineMs * 0.875),
      lock_timeout: Math.round(deadlineMs * 0.75),
      idle_in_transaction_session_timeout: 20_000,
    },
    ...hooks,
  };
  const sql = postgres(url, options);
  Object.assign(sql.options.parsers, parsers);
  Object.assign(sql.options.serializers, serializers);
  return sql;
}

/** The system's and the socket's own errors (`EPIPE`, `ERR_STREAM_…`), and what the driver makes up for them. */
const isOfSocket = (error: unknown) => /^(E[A-Z]|CONNECTION_)/.test((error as { code?: string })?.code ?? '');

const away = (cause: unknown, message: string) =>
  new DatabaseUnavailable((cause as { code?: string }).code ?? 'CONNECTION_CLOSED', message, { cause });
const closed = () => new DatabaseUnavailable('CONNECTION_CLOSED', 'The connection to the database is closed.');
const timedOut = () => new DatabaseUnavailable('DATABASE_TIMEOUT', 'The database did not answer in time.');
