/** What the service tells its monitoring of, where it is settled and, in a transaction, once that is committed. */
export interface Metrics {
  /** An execution has begun for the first time, so long after the instant that it was due at. */
  executionStarted(trigger: string, lateMs: number): void;
  /** `durationMs` is null for one that never began. */
  executionEnded(end: { outcome: ExecutionSample; durationMs: number | null }): void;
  /** Tokens and cost were booked. */
  usageBooked(usage: Usage): void;
  agentCallEnded(outcome: ExecutionSample): void;
  /** The first attempt of a delivery has begun, so long after it was queued. */
  deliveryStarted(lagMs: number): void;
  /** `statusCode` is null where the receiver has not answered. */
  attemptEnded(attempt: { success: boolean; statusCode: number | null }): void;
  /** Work that another process had begun, and no longer renewed, was taken over. */
  takenOver(kind: 'executions' | 'deliveries' | 'agent_calls', count: number): void;
  rateLimited(bucket: string): void;
  /** `route` is the pattern of the route, null for an unknown one. */
  requestAnswered(request: { method: string; route: string | null; statusCode: number; ms: number }): void;
  fileStored(bytes: number): void;
  /** Where to ask how many are under way in this process; of several answers the latest counts. */
  inFlight(kind: 'executions' | 'deliveries', count: () => number): void;
}

export type ExecutionSample = { ok: true } | { ok: false; errorCode: string };

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
  costUsd: number;
}

/** Of a process that nobody watches. */
export const NO_METRICS: Metrics = {
  executionStarted() {},
  executionEnded() {},
  usageBooked() {},
  agentCallEnded() {},
  deliveryStarted() {},
  attemptEnded() {},
  takenOver() {},
  rateLimited() {},
  requestAnswered() {},
  fileStored() {},
  inFlight() {},
};
