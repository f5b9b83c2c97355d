import { ERROR_CODES } from '@carillon/db';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { VERSION } from '../config/version.ts';
import type { ExecutionSample, Metrics } from './metrics.ts';

const LATENESS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const DURATION = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const LAG = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600];
const REQUEST = [0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export interface Instruments extends Metrics {
  /** All of them, those of the process (memory, processor, event loop, garbage collection) among them. */
  registry: Registry;
}

/**
 * Makes the instruments of a process. No label has values without bound: neither people, nor ids, nor addresses.
 * Durations are seconds, as Prometheus wants them.
 */
export function createInstruments(): Instruments {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter<L>({ name: `carillon_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: L[]) =>
    new Histogram<L>({ name: `carillon_${name}`, help, buckets, labelNames, registers });

  const lateness = histogram(
    'execution_start_lateness_seconds',
    'From the instant that an execution was due at to its start; for trigger "schedule" the planned instant.',
    LATENESS,
    ['trigger'],
  );
  const duration = histogram('execution_duration_seconds', 'What executions took.', DURATION, ['outcome']);
  const executions = counter('executions_total', 'Executions that ended, retries each for itself.', OUTCOME);
  const agentCalls = counter('agent_calls_total', 'Calls of agent mode.', OUTCOME);
  const tokens = counter('tokens_total', 'Tokens as they are booked.', ['direction', 'estimated']);
  const cost = counter('cost_usd_total', 'What the tokens cost as it is booked, in US dollars.', []);
  const lag = histogram(
    'webhook_delivery_lag_seconds',
    'From the queueing of a delivery to the beginning of its first attempt.',
    LAG,
    [],
  );
  const attempts = counter('webhook_attempts_total', 'Attempts of deliveries; refused is another status than 2xx.', [
    'outcome',
  ]);
  const takeovers = counter('claims_taken_over_total', 'What another process had begun and no longer renewed.', [
    'kind',
  ]);
  const refusals = counter('rate_limit_refusals_total', 'Requests and actions beyond a rate limit.', ['bucket']);
  const requests = histogram('http_request_duration_seconds', 'Requests to the end of their answer.', REQUEST, [
    'method',
    'route',
    'status',
  ]);
  const uploaded = counter('upload_bytes_total', 'Bytes of files that were stored.', []);

  // A rate sees no first event of a series that was not there before.
  for (const total of [executions, agentCalls]) {
    total.inc(labelsOf({ ok: true }), 0);
    for (const errorCode of ERROR_CODES) total.inc(labelsOf({ ok: false, errorCode }), 0);
  }
  for (const outcome of ['delivered', 'refused', 'unanswered']) attempts.inc({ outcome }, 0);
  for (const kind of ['executions', 'deliveries', 'agent_calls']) takeovers.inc({ kind }, 0);

  const counts = { executions: () => 0, deliveries: () => 0 };
  const inFlight = (name: string, help: string, kind: keyof typeof counts) =>
    new Gauge({
      name: `carillon_${name}`,
      help,
      registers,
      collect() {
        this.set(counts[kind]());
      },
    });
  inFlight('executions_in_flight', 'Executions that run in this process.', 'executions');
  inFlight('webhook_deliveries_in_flight', 'Deliveries that are under way in this process.', 'deliveries');
  const about = { name: 'carillon_build_info', help: 'Always 1; the label tells the version.', registers };
  new Gauge({ ...about, labelNames: ['version'] }).set({ version: VERSION }, 1);
  collectDefaultMetrics({ register: registry });

  return {
    registry,
    executionStarted: (trigger, lateMs) => lateness.observe({ trigger }, seconds(lateMs)),
    executionEnded({ outcome, durationMs }) {
      executions.inc(labelsOf(outcome));
      if (durationMs !== null) duration.observe({ outcome: labelsOf(outcome).outcome }, seconds(durationMs));
    },
    usageBooked({ inputTokens, outputTokens, estimated, costUsd }) {
      tokens.inc({ direction: 'input', estimated: `${estimated}` }, amount(inputTokens));
      tokens.inc({ direction: 'output', estimated: `${estimated}` }, amount(outputTokens));
      cost.inc(amount(costUsd));
    },
    agentCallEnded: (outcome) => agentCalls.inc(labelsOf(outcome)),
    deliveryStarted: (lagMs) => lag.observe(seconds(lagMs)),
    attemptEnded({ success, statusCode }) {
      attempts.inc({ outcome: success ? 'delivered' : statusCode === null ? 'unanswered' : 'refused' });
    },
    takenOver: (kind, count) => takeovers.inc({ kind }, amount(count)),
    rateLimited: (bucket) => refusals.inc({ bucket }),
    requestAnswered({ method, route, statusCode, ms }) {
      requests.observe({ method, route: route ?? 'unknown', status: `${Math.floor(statusCode / 100)}xx` }, seconds(ms));
    },
    fileStored: (bytes) => uploaded.inc(amount(bytes)),
    inFlight(kind, count) {
      counts[kind] = count;
    },
  };
}

const OUTCOME: ('outcome' | 'error_code')[] = ['outcome', 'error_code'];

const labelsOf = (end: ExecutionSample) =>
  end.ok ? { outcome: 'completed', error_code: 'none' } : { outcome: 'failed', error_code: end.errorCode };

/** The library throws at any other, and what is counted has happened all the same. */
const amount = (value: number) => (Number.isFinite(value) && value > 0 ? value : 0);

/** The clocks of two processes differ: nothing is early. */
const seconds = (ms: number) => amount(ms) / 1000;
