/** Called when the measured change is final: inside a transaction, after its commit. */
export interface Metrics {
  /** First start of an execution, `latenessMs` after it was due. */
  executionStarted(trigger: string, latenessMs: number): void;
  /** A transaction that stored results and claimed executions. */
  executionsClaimed(ms: number): void;
  /** `durationMs` is null for an execution that never started. */
  executionEnded(end: { outcome: MeasuredOutcome; durationMs: number | null }): void;
  usageRecorded(usage: Usage): void;
  agentCallEnded(outcome: MeasuredOutcome): void;
  /** First attempt of a delivery, `lagMs` after it was queued. */
  deliveryStarted(lagMs: number): void;
  /** `statusCode` is null if the receiver did not answer. */
  attemptEnded(attempt: { success: boolean; statusCode: number | null }): void;
  alertSent(kind: string): void;
  /** For good: no retry follows. */
  alertDeliveryFailed(by: 'webhook' | 'mail'): void;
  takenOver(kind: 'executions' | 'deliveries' | 'agent_calls', count: number): void;
  rateLimited(bucket: string): void;
  /** `route` is the pattern of the route, null for an unknown one. */
  requestAnswered(request: { method: string; route: string | null; statusCode: number; ms: number }): void;
  fileStored(bytes: number): void;
  /** `skewMs` is positive if the database's clock is ahead of this process's. */
  clockCompared(skewMs: number): void;
  eventsStreamed(count: number): void;
  /** Registers the function that counts what is in flight; the latest one is used. */
  inFlight(kind: 'executions' | 'deliveries' | 'streams' | 'looks', count: () => number): void;
}

export type MeasuredOutcome = { ok: true } | { ok: false; errorCode: string };

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
  costUsd: number;
  /** Unknown for the built-in model, and for a call that was broken off. */
  provider?: string | null;
}

export const NO_METRICS: Metrics = {
  executionStarted() {},
  executionsClaimed() {},
  executionEnded() {},
  usageRecorded() {},
  agentCallEnded() {},
  deliveryStarted() {},
  attemptEnded() {},
  alertSent() {},
  alertDeliveryFailed() {},
  takenOver() {},
  rateLimited() {},
  requestAnswered() {},
  fileStored() {},
  eventsStreamed() {},
  clockCompared() {},
  inFlight() {},
};
