import { DatabaseUnavailable, SQLSTATE } from '../errors.ts';
import type { Connection, ConnectionSettings } from './connection.ts';
import { openPrimaryConnection, type Servers } from './primary.ts';

/** Older connections are replaced once they are idle, because a server process only grows. */
const MAX_AGE_MS = 45 * 60_000;
/** Further requests are refused at once: they would hold memory and time out anyway. */
const MAX_WAITING = 5000;
/** Statements on one connection, each answered after those before it. */
const MAX_STATEMENTS = 10;
/** The shared connection is avoided while its server is further behind than this: one of its statements is slow. */
const MAX_SHARED_PENDING_MS = 2;
const WATCH_INTERVAL_MS = 100;
/** The server is silent, or is no longer the primary. */
const SERVER_FAILURES: readonly string[] = ['DATABASE_TIMEOUT', SQLSTATE.readOnly];

export interface PoolSettings extends ConnectionSettings {
  servers: Servers;
  maxConnections: number;
}

export interface PoolState {
  open: number;
  inUse: number;
  waiting: number;
}

export interface Pool {
  /** A connection for one statement, or null if the caller has to wait for one. See the README for `shared`. */
  tryAcquire(options: { shared: boolean }): Connection | null;
  /** Rejects at `until` (of `performance.now()`), earlier when the database is known to be unreachable. */
  acquire(until: number, options: { exclusive: boolean }): Promise<Connection>;
  release(connection: Connection): void;
  state(): PoolState;
  /** Refuses new work, waits up to `timeoutMs` for the connections in use, and closes all. */
  close(timeoutMs: number): Promise<void>;
}

interface Waiter {
  exclusive: boolean;
  until: number;
  resolve(connection: Connection): void;
  reject(error: Error): void;
}

/** While the database is unreachable one connection is attempted at a time, and the first success brings the others back. */
export function createPool(settings: PoolSettings): Pool {
  /** Every open connection, with the number of statements or transactions on it. */
  const useCounts = new Map<Connection, number>();
  const idle: Connection[] = [];
  /** Connections that run statements, no transaction, and can take another one. */
  const joinable: Connection[] = [];
  /** The connection of the short statements, while it has no others. */
  let sharedConnection: Connection | undefined;
  /** All wait equally long, so the order is that of their deadlines. */
  const waiters = new Set<Waiter>();
  let opening = 0;
  let hasFailed = false;
  let closing: Promise<void> | undefined;
  let onUnused = () => {};

  const watch = setInterval(() => {
    const now = performance.now();
    for (const connection of useCounts.keys()) connection.watch(now);
    for (const waiter of waiters) {
      if (waiter.until > now) break;
      waiters.delete(waiter);
      waiter.reject(poolBusy());
    }
  }, WATCH_INTERVAL_MS).unref();

  function rejectWaiters(error: Error) {
    for (const waiter of waiters) waiter.reject(error);
    waiters.clear();
  }

  function serveWaiters(connection: Connection) {
    let useCount = useCounts.get(connection) ?? 0;
    for (const waiter of waiters) {
      if (waiter.exclusive ? useCount > 0 : useCount >= MAX_STATEMENTS) break;
      waiters.delete(waiter);
      if (connection === sharedConnection) sharedConnection = undefined;
      useCount += 1;
      useCounts.set(connection, useCount);
      waiter.resolve(connection);
      if (waiter.exclusive) return;
    }
    if (useCount === 0) idle.push(connection);
    else if (useCount < MAX_STATEMENTS) joinable.push(connection);
  }

  function takeSharedConnection(): Connection | undefined {
    const useCount = sharedConnection && useCounts.get(sharedConnection);
    if (!sharedConnection || useCount === undefined || useCount >= MAX_STATEMENTS) return undefined;
    if (sharedConnection.pendingMs > MAX_SHARED_PENDING_MS) return undefined;
    remove(useCount === 0 ? idle : joinable, sharedConnection);
    return sharedConnection;
  }

  function openMissing() {
    const isReachable = useCounts.size > 0 && !hasFailed;
    const capacity = settings.maxConnections - useCounts.size;
    const missing = Math.min(waiters.size, capacity, isReachable ? Number.POSITIVE_INFINITY : 1);
    while (!closing && opening < missing) void openOne();
  }

  async function openOne() {
    let connection: Connection | undefined;
    opening += 1;
    try {
      connection = await openPrimaryConnection(
        settings.servers,
        settings,
        (error) => connection && forget(connection, error),
      );
      opening -= 1;
      hasFailed = false;
      if (connection.isLost || closing) return connection.lose(poolClosed());
      useCounts.set(connection, 0);
      serveWaiters(connection);
      openMissing();
    } catch (error) {
      opening -= 1;
      hasFailed = true;
      // Connections in use will be handed on. Without any, waiting does not help.
      if (useCounts.size === 0 && opening === 0) rejectWaiters(error as Error);
    }
  }

  function forget(connection: Connection, error: Error) {
    if (!useCounts.delete(connection)) return;
    remove(idle, connection);
    remove(joinable, connection);
    // What is wrong with the server of one connection is probably wrong with the others, too: replace those not in use.
    if (error instanceof DatabaseUnavailable && SERVER_FAILURES.includes(error.code)) {
      for (const other of idle.splice(0)) other.lose(error);
    }
    if (useCounts.size === 0) onUnused();
    openMissing();
  }

  function retire(connection: Connection) {
    useCounts.delete(connection);
    if (useCounts.size === 0) onUnused();
    openMissing();
    return connection.end();
  }

  function untilUnused(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      onUnused = () => {
        clearTimeout(timer);
        resolve();
      };
      if (useCounts.size === 0) onUnused();
    });
  }

  return {
    tryAcquire({ shared }) {
      if (closing || waiters.size > 0) return null;
      const canOpen = useCounts.size + opening < settings.maxConnections;
      const connection =
        (shared ? takeSharedConnection() : undefined) ?? idle.pop() ?? (canOpen ? undefined : joinable.shift());
      if (!connection) return null;
      if (shared) sharedConnection = connection;
      else if (connection === sharedConnection) sharedConnection = undefined;
      const useCount = (useCounts.get(connection) ?? 0) + 1;
      useCounts.set(connection, useCount);
      if (useCount < MAX_STATEMENTS) joinable.push(connection);
      return connection;
    },
    async acquire(until, { exclusive }) {
      if (closing) throw poolClosed();
      if (waiters.size >= MAX_WAITING) throw poolBusy();
      return new Promise((resolve, reject) => {
        waiters.add({ exclusive, until, resolve, reject });
        const connection = waiters.size === 1 ? idle.pop() : undefined;
        if (connection) serveWaiters(connection);
        else openMissing();
      });
    },
    release(connection) {
      if (connection.isLost) return;
      const useCount = (useCounts.get(connection) ?? 0) - 1;
      useCounts.set(connection, useCount);
      remove(joinable, connection);
      const isExpired = closing || performance.now() - connection.openedAt > MAX_AGE_MS;
      if (useCount === 0 && isExpired) void retire(connection);
      else serveWaiters(connection);
    },
    state() {
      const inUse = [...useCounts.values()].filter((useCount) => useCount > 0).length;
      return { open: useCounts.size, inUse, waiting: waiters.size };
    },
    close(timeoutMs) {
      closing ??= (async () => {
        rejectWaiters(poolClosed());
        await Promise.all([...idle.splice(0).map(retire), untilUnused(timeoutMs)]);
        for (const connection of useCounts.keys()) connection.lose(poolClosed());
        clearInterval(watch);
      })();
      return closing;
    },
  };
}

function remove(list: Connection[], connection: Connection) {
  const index = list.indexOf(connection);
  if (index !== -1) list.splice(index, 1);
}

const poolBusy = () => new DatabaseUnavailable('DATABASE_BUSY', 'No connection to the database became free in time.');
const poolClosed = () => new DatabaseUnavailable('DATABASE_CLOSED', 'The pool is closed.');
