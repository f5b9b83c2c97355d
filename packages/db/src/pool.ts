import { type Connection, type ConnectionSettings, openConnection } from './connection.ts';
import { DatabaseUnavailable } from './errors.ts';
import { busy, closedPool, refuseAll, refuseLate, type Waiting } from './waiting.ts';

/** After so long a connection is replaced when it is next free: a server process only ever grows. */
const LIFETIME_MS = 45 * 60_000;
/** Nobody queues behind so many: they would wait in vain, and hold memory for it. */
const WAITING_AT_MOST = 5000;
/** Statements that share a connection at most, each waiting for those before it. */
const SHARED_BY = 10;
const QUICK_MS = 2;
const WATCH_MS = 100;

export interface PoolSettings extends ConnectionSettings {
  /** Connections at most. */
  max: number;
}

/** How a pool is doing at a moment. */
export interface PoolState {
  /** Connections that are open, and those of them that somebody uses. */
  open: number;
  inUse: number;
  /** Statements and transactions that wait for one. */
  waiting: number;
}

export interface Pool {
  /**
   * A connection for one statement, or null where one has to be waited for. Quick ones go together, also while other
   * connections are free: a crowd of them is sent and answered at once, which costs little more than one of them.
   */
  share(isQuick: boolean): Connection | null;
  /**
   * Waits for a connection, to have it `alone` or for one statement. Rejects with a `DatabaseUnavailable` as soon as the database
   * is known to be out of reach, and at `until` (of `performance.now()`) in any case.
   */
  acquire(until: number, options: { alone: boolean }): Promise<Connection>;
  /** Gives back what `share` or `acquire` gave. */
  release(connection: Connection): void;
  state(): PoolState;
  /** Refuses whoever comes, waits up to `ms` for those who hold a connection, and closes all of them. */
  close(ms: number): Promise<void>;
}

/**
 * Connections that are opened when they are needed and replaced when they break. While the database is out of reach
 * only one is tried at a time, and each try is somebody's request: the first that succeeds brings the others back.
 */
export function createPool(settings: PoolSettings): Pool {
  /** How many use each of the open connections. */
  const users = new Map<Connection, number>();
  const free: Connection[] = [];
  /** Those that run statements only, and may take another one. */
  const shared: Connection[] = [];
  /** The one that takes quick statements, and has nothing else to do. */
  let lane: Connection | undefined;
  const waiting = new Set<Waiting>();
  let opening = 0;
  let failed = false;
  let closing: Promise<void> | undefined;
  let onIdle = () => {};

  const watch = setInterval(() => {
    for (const connection of users.keys()) connection.watch(performance.now());
    refuseLate(waiting, performance.now());
  }, WATCH_MS).unref();

  /** Gives a connection with room to those who have waited longest. */
  function serve(connection: Connection) {
    let using = users.get(connection) ?? 0;
    for (const one of waiting) {
      if (one.alone ? using > 0 : using >= SHARED_BY) break;
      waiting.delete(one);
      if (connection === lane) lane = undefined;
      using += 1;
      users.set(connection, using);
      one.resolve(connection);
      if (one.alone) return;
    }
    if (using === 0) free.push(connection);
    else if (using < SHARED_BY) shared.push(connection);
  }

  /** The connection of the quick ones, taken from its list; none where it is full, or one of them is not quick after all. */
  function roomInLane(): Connection | undefined {
    const using = lane && users.get(lane);
    if (!lane || using === undefined || using >= SHARED_BY || lane.owedMs > QUICK_MS) return undefined;
    drop(using === 0 ? free : shared, lane);
    return lane;
  }

  function openMore() {
    const isKnownToWork = users.size > 0 && !failed;
    const wanted = Math.min(waiting.size, settings.max - users.size, isKnownToWork ? Number.POSITIVE_INFINITY : 1);
    while (!closing && opening < wanted) void openOne();
  }

  async function openOne() {
    let connection: Connection | undefined;
    opening += 1;
    try {
      connection = await openConnection(settings, (error) => connection && forget(connection, error));
      opening -= 1;
      failed = false;
      if (connection.isLost || closing) return connection.lose(closedPool());
      users.set(connection, 0);
      serve(connection);
      openMore();
    } catch (error) {
      opening -= 1;
      failed = true;
      // Those who hold a connection will hand it on; where there is none, waiting is in vain.
      if (users.size > 0 || opening > 0) return;
      refuseAll(waiting, () => error as Error);
    }
  }

  function forget(connection: Connection, error: Error) {
    if (!users.delete(connection)) return;
    drop(free, connection);
    drop(shared, connection);
    // One that stopped answering is rarely alone: those that nobody uses are not trusted any more.
    if (error instanceof DatabaseUnavailable && error.code === 'DATABASE_TIMEOUT') {
      for (const other of free.splice(0)) other.lose(error);
    }
    if (users.size === 0) onIdle();
    openMore();
  }

  function retire(connection: Connection) {
    users.delete(connection);
    if (users.size === 0) onIdle();
    openMore();
    return connection.end();
  }

  return {
    share(isQuick) {
      if (closing || waiting.size > 0) return null;
      const together = isQuick ? roomInLane() : undefined;
      const connection = together ?? free.pop() ?? (users.size + opening < settings.max ? undefined : shared.shift());
      if (!connection) return null;
      if (isQuick) lane = connection;
      else if (connection === lane) lane = undefined;
      const using = (users.get(connection) ?? 0) + 1;
      users.set(connection, using);
      if (using < SHARED_BY) shared.push(connection);
      return connection;
    },
    async acquire(until, { alone }) {
      if (closing) throw closedPool();
      if (waiting.size >= WAITING_AT_MOST) throw busy();
      return new Promise((resolve, reject) => {
        waiting.add({ alone, until, resolve, reject });
        const connection = waiting.size === 1 ? free.pop() : undefined;
        if (connection) serve(connection);
        else openMore();
      });
    },
    release(connection) {
      if (connection.isLost) return;
      const using = (users.get(connection) ?? 0) - 1;
      users.set(connection, using);
      drop(shared, connection);
      const isToGo = closing || performance.now() - connection.openedAt > LIFETIME_MS;
      if (using === 0 && isToGo) void retire(connection);
      else serve(connection);
    },
    state() {
      const inUse = [...users.values()].filter((using) => using > 0).length;
      return { open: users.size, inUse, waiting: waiting.size };
    },
    close(ms) {
      closing ??= (async () => {
        refuseAll(waiting, closedPool);
        await Promise.all([...free.splice(0).map(retire), untilIdle(ms)]);
        for (const connection of users.keys()) connection.lose(closedPool());
        clearInterval(watch);
      })();
      return closing;
    },
  };

  function untilIdle(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
      if (users.size === 0) onIdle();
    });
  }
}

function drop(list: Connection[], connection: Connection) {
  const at = list.indexOf(connection);
  if (at !== -1) list.splice(at, 1);
}
