import { type Dispatcher, request } from 'undici';

export interface Trigger {
  apiUrl: string;
  cronSecret: string;
  dispatcher: Dispatcher;
  /** Ends the call; it rejects with the signal's reason. */
  signal: AbortSignal;
}

export interface Answer {
  /** How many due executions the call has claimed. */
  processed: number;
  /** When the next one falls due, by the API's clock. */
  nextDueAt: Date | null;
}

/**
 * One authorised call of the scheduler trigger (decisions §6), which claims what is due and answers without waiting
 * for it to run. Throws when the API cannot be reached, refuses, or answers something else.
 */
export async function trigger({ apiUrl, cronSecret, dispatcher, signal }: Trigger): Promise<Answer> {
  const { statusCode, body } = await request(`${apiUrl}/api/cron/scheduler`, {
    dispatcher,
    signal,
    headers: { authorization: `Bearer ${cronSecret}`, prefer: 'respond-async' },
  });
  if (statusCode !== 200) {
    // Read to the end, so that the connection can be used again.
    await body.dump();
    throw new Error(statusCode === 401 ? 'its CRON_SECRET is another one' : `it answered ${statusCode}`);
  }
  const answer = await body.json().catch((error: Error) => {
    signal.throwIfAborted();
    throw new Error('it did not answer with JSON', { cause: error });
  });
  const { processed, nextDueAt } = (answer ?? {}) as { processed?: unknown; nextDueAt?: unknown };
  const due = typeof nextDueAt === 'string' ? new Date(nextDueAt) : null;
  return {
    processed: Number(processed) || 0,
    nextDueAt: due && !Number.isNaN(due.getTime()) ? due : null,
  };
}
