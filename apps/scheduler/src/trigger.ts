import { type Dispatcher, request } from 'undici';

export interface TriggerRequest {
  apiUrl: string;
  cronSecret: string;
  dispatcher: Dispatcher;
  signal: AbortSignal;
}

export interface TriggerResponse {
  processed: number;
  /** When the next task is due, by the API's clock. */
  nextDueAt: Date | null;
}

/** The API answered 503: its database is away, for example. */
export class ApiUnavailable extends Error {}

/** Enqueues what is due, without waiting for it to run. Throws if the API does not answer as expected. */
export async function triggerApi(options: TriggerRequest): Promise<TriggerResponse> {
  const { apiUrl, cronSecret, dispatcher, signal } = options;
  const { statusCode, headers, body } = await request(`${apiUrl}/api/cron/scheduler`, {
    dispatcher,
    signal,
    headers: { authorization: `Bearer ${cronSecret}`, prefer: 'respond-async' },
  });
  if (statusCode !== 200) {
    // The connection can be used again only after the body is read.
    await body.dump();
    if (statusCode === 503) throw new ApiUnavailable('it answered 503');
    throw new Error(statusCode === 401 ? 'its CRON_SECRET differs' : `it answered ${statusCode}`);
  }
  const json = await body.json().catch((error: Error) => {
    signal.throwIfAborted();
    throw new Error('it did not answer with JSON', { cause: error });
  });
  const { processed } = (json ?? {}) as { processed?: unknown };
  const nextDueAt = headers['x-next-due-at'];
  const due = typeof nextDueAt === 'string' ? new Date(nextDueAt) : null;
  return {
    processed: Number(processed) || 0,
    nextDueAt: due && !Number.isNaN(due.getTime()) ? due : null,
  };
}
