import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { PrepareSetting } from './pooling.ts';
import { createServers, openPrimaryConnection } from './primary.ts';

const RECONNECT_MS = 1000;

export interface ListenOptions {
  applicationName?: string;
  deadlineMs?: number;
  /** How often the connection is checked: a silent server is noticed after this and the deadline. Default: 15,000. */
  checkMs?: number;
  /** Default: `auto`. */
  prepare?: PrepareSetting;
}

interface Listener {
  /** Resolves when it is closed, or has ended at a pooler. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Listens on a connection of its own, which it opens again when it is lost. `onNotification` gets the payload, or null
 * after each connecting, because notifications may have been missed. It ends at a pooler in transaction mode, where another
 * client would get the notifications.
 */
export function listen(
  url: string,
  channel: string,
  onNotification: (payload: string | null) => void,
  { applicationName = 'carillon', deadlineMs = 4000, checkMs = 15_000, prepare = 'auto' }: ListenOptions = {},
): Listener {
  const closing = new AbortController();
  const servers = createServers(url);
  const settings = { applicationName, deadlineMs, prepare, parsers: {}, serializers: {}, onNotification };

  async function listenUntilLost() {
    const lost = Promise.withResolvers<void>();
    const connection = await openPrimaryConnection(servers, settings, () => lost.resolve());
    if (connection.pooling === 'transaction') return connection.end().finally(() => closing.abort());
    const onClosing = () => void connection.end();
    closing.signal.addEventListener('abort', onClosing);
    if (closing.signal.aborted) onClosing();
    const checks = setInterval(() => check(connection), checkMs);
    try {
      await send(connection, `listen ${channel}`);
      onNotification(null);
      await lost.promise;
    } finally {
      clearInterval(checks);
      closing.signal.removeEventListener('abort', onClosing);
    }
  }

  const send = (connection: Connection, statement: string) =>
    connection.run((sql) => sql.unsafe(statement), performance.now() + deadlineMs);

  function check(connection: Connection) {
    const timer = setTimeout(() => connection.watch(performance.now()), deadlineMs + 1);
    send(connection, 'select 1')
      .catch((error) => connection.lose(error))
      .finally(() => clearTimeout(timer));
  }

  async function run() {
    while (!closing.signal.aborted) {
      // The pool reports an unavailable database; here it only means that callers poll.
      await listenUntilLost().catch(() => {});
      await delay(RECONNECT_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  const ended = run();
  return {
    ended,
    close() {
      closing.abort();
      return ended;
    },
  };
}
