import type { Socket } from 'node:net';
import postgres from 'postgres';
import { DatabaseUnavailable, SQLSTATE } from '../errors.ts';
import { openPostgres, openSocket } from '../open-postgres.ts';
import { findPooling, forgetPooling, type PrepareSetting } from './pooling.ts';
import type { Pooling } from './search-pooler.ts';
import { setForSession, setForTransaction } from './timeouts.ts';

export interface Server {
  url: string;
  /** How long connecting may take. */
  connectMs: number;
  /** Whether a standby is refused. */
  mustBePrimary: boolean;
}

export interface ConnectionSettings {
  applicationName: string;
  /** A server that is silent for this long while an answer is pending counts as lost. */
  deadlineMs: number;
  prepare: PrepareSetting;
  parsers: Record<number, (text: string) => unknown>;
  serializers: Record<number, (value: unknown) => unknown>;
  onNotification?: (payload: string) => void;
}

/** Options of the driver for a statement with this text, which has it prepared once if the pooler keeps it. */
type Prepare = (text: string) => postgres.UnsafeQueryOptions;

export type Send<T = unknown> = (sql: postgres.Sql, prepare: Prepare) => PromiseLike<T>;

/** One connection to the server. A lost one is never reconnected: the pool opens another. */
export interface Connection {
  readonly isLost: boolean;
  readonly openedAt: number;
  readonly pooling: Pooling['kind'];
  /** The command that begins a transaction. */
  readonly begin: string;
  /** How long the server has not answered while an answer is pending; 0 if none is. */
  readonly pendingMs: number;
  /** Rejects at `until` (of `performance.now()`). `onSettled` may come later. Call it from a microtask, before the socket can close. */
  run<T>(send: Send<T>, until: number, onSettled?: () => void): Promise<T>;
  /** Rejects statements that are late at `now`, and loses the connection if the server has been silent for too long. */
  watch(now: number): void;
  lose(error: Error): void;
  end(): Promise<void>;
}

interface PendingStatement {
  until: number;
  reject(error: Error): void;
}

/** Opens a connection and waits for a first answer. Rejects with `DatabaseUnavailable`. */
export async function openConnection(
  { url, connectMs, mustBePrimary }: Server,
  settings: ConnectionSettings,
  onLost: (error: Error) => void,
): Promise<Connection> {
  const pending = new Set<PendingStatement>();
  let lost: Error | null = null;
  let socket: Socket | undefined;
  let pendingSince = 0;
  const names = new Map<string, string>();
  let pooling: Pooling | undefined;

  const prepare: Prepare = (text) => {
    if (!pooling?.keepsStatements) return UNPREPARED;
    const name = names.get(text) ?? `statement ${names.size}`;
    names.set(text, name);
    return { prepare: true, ...({ name, onlost, simple: false } satisfies Partial<UntypedOptions>) };
  };

  /** The driver would repeat the statement. With others on the connection, it then mixes up their answers. */
  const onlost = (error: unknown) => {
    forgetPooling(url);
    connection.lose(unavailable(error, 'The server, or a pooler before it, lost a prepared statement.'));
  };

  const connection: Connection = {
    openedAt: performance.now(),
    get pooling() {
      return pooling?.kind ?? 'direct';
    },
    get begin() {
      const commands = ['begin', USE_INDEXES];
      if (pooling?.kind === 'transaction') commands.push(setForTransaction(settings.deadlineMs));
      return commands.join('; ');
    },
    get isLost() {
      return lost !== null;
    },
    get pendingMs() {
      return pending.size === 0 ? 0 : performance.now() - pendingSince;
    },
    run(send, until, onSettled) {
      return new Promise((resolve, reject) => {
        if (lost) return reject(lost);
        const statement = { until, reject };
        if (pending.size === 0) pendingSince = performance.now();
        pending.add(statement);
        const complete = () => {
          pending.delete(statement);
          pendingSince = performance.now();
          onSettled?.();
        };
        send(sql, prepare).then(
          (answer) => {
            complete();
            resolve(answer);
          },
          (error) => {
            complete();
            if (error.code === SQLSTATE.readOnly) connection.lose(standby(error));
            reject(isSocketError(error) ? unavailable(error, 'The connection to the database broke.') : error);
          },
        );
      });
    },
    watch(now) {
      if (pending.size > 0 && now - pendingSince > settings.deadlineMs) return connection.lose(timedOut());
      for (const { until, reject } of pending) {
        if (until > now) return;
        reject(timedOut());
      }
    },
    lose(error) {
      if (lost) return;
      lost = error;
      socket?.destroy();
      for (const { reject } of pending) reject(error);
      onLost(error);
    },
    async end() {
      await sql.end({ timeout: 1 });
      connection.lose(closed());
    },
  };
  const sql = createClient(url, settings, {
    socket: (addresses) => {
      if (lost || socket) throw closed();
      socket = openSocket(addresses);
      return socket;
    },
    onclose: () => connection.lose(closed()),
  });

  const timer = setTimeout(() => connection.lose(timedOut()), connectMs);
  try {
    pooling = await connection.run((sql) => findPooling(url, settings.prepare, sql), Number.POSITIVE_INFINITY);
    const columns = ['pg_is_in_recovery() as is_standby'];
    if (pooling.kind !== 'transaction') columns.push(setForSession(settings.deadlineMs));
    const first = (sql: postgres.Sql) => sql.unsafe<FirstRow[]>(`select ${columns.join(', ')}`);
    const [row] = await connection.run(first, Number.POSITIVE_INFINITY);
    if (mustBePrimary && row?.isStandby) throw standby();
    return connection;
  } catch (error) {
    connection.lose(error as Error);
    throw unavailable(error, 'The database cannot be connected to.');
  } finally {
    clearTimeout(timer);
  }
}

interface FirstRow {
  isStandby: boolean;
}

/** That the driver's types leave out. All but `simple` are by `patches/postgres@3.4.9.patch`, see the README. */
interface UntypedOptions {
  /** By which the driver finds the prepared statement. */
  name: string;
  onlost(error: unknown): void;
  /** Whether the server is asked for the types of the parameters before they are sent. Default: unless it is prepared. */
  describeFirst: boolean;
  /** Whether it is parsed and planned at each call. Default: without parameters. */
  simple: boolean;
}

/**
 * A prepared statement keeps its plan. One made while a queue is empty would read the whole table later, when it is full. One
 * plan for all values from the first execution on: with a plan for each, new connections spend their time on planning.
 * Before PostgreSQL 18, a table without a usable index counts as so expensive that each execution would be compiled.
 */
const USE_INDEXES =
  'set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan; set local jit = off';

/** Sent at once: of two messages, a pooler in transaction mode could pass the second to another connection. */
const UNPREPARED: postgres.UnsafeQueryOptions & Partial<UntypedOptions> = { prepare: false, describeFirst: false };

interface Hooks {
  socket(options: { host: string[]; port: number[]; path?: string }): Socket;
  onclose(): void;
}

/** An option that the driver's types leave out. */
interface Notified {
  onnotify(channel: string, payload: string): void;
}

function createClient(url: string, settings: ConnectionSettings, hooks: Hooks) {
  const { applicationName, parsers, serializers, onNotification } = settings;
  const options: postgres.Options<Record<string, never>> & Hooks & Notified = {
    max: 1,
    fetch_types: false,
    connect_timeout: 0,
    idle_timeout: 0,
    max_lifetime: null,
    backoff: () => 0,
    onnotice: () => {},
    onnotify: (_channel, payload) => onNotification?.(payload),
    // Applied to the column names of a statement when it is prepared, not to each row.
    transform: { column: { from: postgres.toCamel } },
    connection: { application_name: applicationName },
    ...hooks,
  };
  const sql = openPostgres(url, options);
  Object.assign(sql.options.parsers, parsers);
  Object.assign(sql.options.serializers, serializers);
  return sql;
}

/** Errors of the system and the socket (`EPIPE`, `ERR_STREAM_…`), and the driver's own for them. */
const isSocketError = (error: unknown) => /^(E[A-Z]|CONNECTION_)/.test((error as { code?: string })?.code ?? '');

const unavailable = (cause: unknown, message: string) =>
  new DatabaseUnavailable((cause as { code?: string }).code ?? 'CONNECTION_CLOSED', message, { cause });
const closed = () => new DatabaseUnavailable('CONNECTION_CLOSED', 'The connection to the database is closed.');
const standby = (cause?: unknown) =>
  new DatabaseUnavailable(SQLSTATE.readOnly, 'The server is a standby, or became one.', { cause });
const timedOut = () => new DatabaseUnavailable('DATABASE_TIMEOUT', 'The database did not answer in time.');

/** Runs when it is awaited; `values` resolves to the rows as arrays. */
export interface Statement extends PromiseLike<unknown> {
  values(): PromiseLike<unknown>;
}

export type Run = <T>(send: Send<T>) => Promise<T>;

/** Prepared, or the driver would ask for the parameter types at every call, a further round trip. */
export function createStatement(
  run: Run,
  text: string,
  params: unknown[] = [],
  options: postgres.UnsafeQueryOptions = {},
): Statement {
  const query = (sql: postgres.Sql, prepare: Prepare) =>
    sql.unsafe(text, params as never[], { ...options, ...prepare(text) });
  const lazy = (send: Send): PromiseLike<unknown> => ({
    // biome-ignore lint/suspicious/noThenProperty: an awaited thenable runs in a microtask, as `Connection.run` requires.
    then: (resolve, reject) => run(send).then(resolve, reject),
  });
  return { ...lazy(query), values: () => lazy((sql, prepare) => query(sql, prepare).values()) };
}
