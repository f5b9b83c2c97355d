import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { createServers, openPrimaryConnection } from './primary.ts';

const RECONNECT_MS = 1000;

export interface ListenOptions {
  applicationName?: string;
  deadlineMs?: number;
  /** How often the connection is checked: a silent server is noticed after this and the deadline. Default: 15,000. */
  checkMs?: number;
}

/**
 * Listens on a connection of its own, which it opens again when it is lost. `onNotification` gets the payload, or null
 * after each connecting, because notifications may have been missed. Behind a pooler that changes the server connection
 * with each transaction, notifications may be missed at any time.
 */
export function listen(
  url: string,
  channel: string,
  onNotification: (payload: string | null) => void,
  { applicationName = 'carillon', deadlineMs = 4000, checkMs = 15_000 }: ListenOptions = {},
): { close(): Promise<void> } {
  const closing = new AbortController();
  const servers = createServers(url);
  const settings = { applicationName, deadlineMs, parsers: {}, serializers: {}, onNotification };

  async function listenUntilLost() {
    const lost = Promise.withResolvers<void>();
    const connection = await openPrimaryConnection(servers, settings, () => lost.resolve());
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

  const running = run();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}
