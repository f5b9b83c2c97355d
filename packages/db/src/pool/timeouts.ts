/** In milliseconds, for a client that waits up to `deadlineMs` for an answer. */
function readTimeouts(deadlineMs: number): [name: string, ms: number][] {
  const timeouts = {
    // A live server gives up before the client does, so no abandoned statement keeps running.
    statement_timeout: deadlineMs * 0.875,
    lock_timeout: deadlineMs * 0.75,
    // A stopped process may hold a lock in one transaction and wait for it in another: others wait for both.
    idle_in_transaction_session_timeout: deadlineMs * 0.35,
  };
  return Object.entries(timeouts).map(([name, ms]) => [name, Math.round(ms)]);
}

/** An expression that sets them for the session: poolers refuse or ignore them as parameters of the connection. */
export const setForSession = (deadlineMs: number): string =>
  readTimeouts(deadlineMs)
    .map(([name, ms]) => `set_config('${name}', '${ms}', false)`)
    .join(', ');

/** Statements that set them for a transaction, to be sent with its `begin`. */
export const setForTransaction = (deadlineMs: number): string =>
  readTimeouts(deadlineMs)
    .map(([name, ms]) => `set local ${name} = ${ms}`)
    .join('; ');
