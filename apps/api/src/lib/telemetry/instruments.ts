import { ALERT_KINDS, ERROR_CODES } from '@carillon/db';
import { countDroppedLines } from '@carillon/runtime';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { VERSION } from '../config/config.ts';
import type { MeasuredOutcome, Metrics } from './metrics.ts';

const LATENESS_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const DURATION_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const CLAIM_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const LAG_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900, 3600];
const REQUEST_BUCKETS = [0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

interface Instruments extends Metrics {
  registry: Registry;
}

/** Prometheus instruments, in seconds. Labels have bounded values: no users, ids or addresses. */
export function createInstruments(): Instruments {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter<L>({ name: `carillon_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: L[]) =>
    new Histogram<L>({ name: `carillon_${name}`, help, buckets, labelNames, registers });

  const lateness = histogram(
    'execution_start_lateness_seconds',
    'Time from when an execution was due to its start; for trigger "schedule", from the planned instant.',
    LATENESS_BUCKETS,
    ['trigger'],
  );
  const claims = histogram(
    'execution_claim_duration_seconds',
    'Time of a transaction that claims executions.',
    CLAIM_BUCKETS,
    [],
  );
  const duration = histogram('execution_duration_seconds', 'Execution time.', DURATION_BUCKETS, ['outcome']);
  const executions = counter('executions_total', 'Ended executions; each retry counts.', OUTCOME_LABELS);
  const agentCalls = counter('agent_calls_total', 'Agent mode calls.', OUTCOME_LABELS);
  const tokens = counter('tokens_total', 'Recorded tokens.', ['direction', 'estimated', 'provider']);
  const cost = counter('cost_usd_total', 'Recorded cost in US dollars.', ['provider']);
  const lag = histogram(
    'webhook_delivery_lag_seconds',
    'Time from the queueing of a delivery to its first attempt.',
    LAG_BUCKETS,
    [],
  );
  const attempts = counter(
    'webhook_attempts_total',
    'Webhook delivery attempts; "refused" is a status other than 2xx, "unanswered" no answer.',
    ['outcome'],
  );
  const alerts = counter('alerts_total', 'Alerts of tasks that were sent.', ['kind']);
  const undelivered = counter(
    'alert_deliveries_failed_total',
    'Deliveries of alerts that failed for good, by webhook or mail.',
    ['by'],
  );
  const takeovers = counter('claims_taken_over_total', 'Expired leases taken over.', ['kind']);
  const refusals = counter('rate_limit_refusals_total', 'Requests and actions rejected by a rate limit.', ['bucket']);
  const requests = histogram('http_request_duration_seconds', 'Time to the end of the response.', REQUEST_BUCKETS, [
    'method',
    'route',
    'status',
  ]);
  const streamed = counter('streamed_events_total', 'Events passed on to live streams.', []);
  const uploaded = counter('upload_bytes_total', 'Bytes of stored files.', []);

  // rate() misses the first event of a series that did not exist before it.
  for (const total of [executions, agentCalls]) {
    total.inc(toLabels({ ok: true }), 0);
    for (const errorCode of ERROR_CODES) total.inc(toLabels({ ok: false, errorCode }), 0);
  }
  for (const outcome of ['delivered', 'refused', 'unanswered']) attempts.inc({ outcome }, 0);
  for (const kind of ALERT_KINDS) alerts.inc({ kind }, 0);
  for (const by of ['webhook', 'mail']) undelivered.inc({ by }, 0);
  for (const kind of ['executions', 'deliveries', 'agent_calls']) takeovers.inc({ kind }, 0);

  const counts = { executions: () => 0, deliveries: () => 0, streams: () => 0, looks: () => 0 };
  const inFlight = (name: string, help: string, kind: keyof typeof counts) =>
    new Gauge({
      name: `carillon_${name}`,
      help,
      registers,
      collect() {
        this.set(counts[kind]());
      },
    });
  inFlight('executions_in_flight', 'Executions running in this process.', 'executions');
  inFlight('webhook_deliveries_in_flight', 'Deliveries in flight in this process.', 'deliveries');
  inFlight('source_looks_in_flight', 'Looks at sources in flight in this process.', 'looks');
  inFlight('live_streams_open', 'Live streams open in this process.', 'streams');
  new Counter({
    name: 'carillon_log_lines_dropped_total',
    help: 'Lines of the log that could not be written, as on a full disk.',
    registers,
    collect() {
      this.reset();
      this.inc(countDroppedLines());
    },
  });
  const clockSkew = new Gauge({
    name: 'carillon_clock_skew_seconds',
    help: "How far the database's clock is ahead of this process's.",
    registers,
  });
  const buildInfo = new Gauge({
    name: 'carillon_build_info',
    help: 'Constant 1, labelled with the running version.',
    labelNames: ['version'],
    registers,
  });
  buildInfo.set({ version: VERSION }, 1);
  collectDefaultMetrics({ register: registry });

  return {
    registry,
    executionStarted: (trigger, latenessMs) => lateness.observe({ trigger }, toSeconds(latenessMs)),
    executionsClaimed: (ms) => claims.observe(toSeconds(ms)),
    executionEnded({ outcome, durationMs }) {
      executions.inc(toLabels(outcome));
      if (durationMs !== null) duration.observe({ outcome: toLabels(outcome).outcome }, toSeconds(durationMs));
    },
    usageRecorded({ inputTokens, outputTokens, estimated, costUsd, provider: name }) {
      // At most five, and those of before.
      const provider = name ?? 'unknown';
      tokens.inc({ direction: 'input', estimated: `${estimated}`, provider }, toAmount(inputTokens));
      tokens.inc({ direction: 'output', estimated: `${estimated}`, provider }, toAmount(outputTokens));
      cost.inc({ provider }, toAmount(costUsd));
    },
    agentCallEnded: (outcome) => agentCalls.inc(toLabels(outcome)),
    deliveryStarted: (lagMs) => lag.observe(toSeconds(lagMs)),
    attemptEnded({ success, statusCode }) {
      attempts.inc({ outcome: success ? 'delivered' : statusCode === null ? 'unanswered' : 'refused' });
    },
    alertSent: (kind) => alerts.inc({ kind }),
    alertDeliveryFailed: (by) => undelivered.inc({ by }),
    takenOver: (kind, count) => takeovers.inc({ kind }, toAmount(count)),
    rateLimited: (bucket) => refusals.inc({ bucket }),
    requestAnswered({ method, route, statusCode, ms }) {
      requests.observe(
        { method, route: route ?? 'unknown', status: `${Math.floor(statusCode / 100)}xx` },
        toSeconds(ms),
      );
    },
    fileStored: (bytes) => uploaded.inc(toAmount(bytes)),
    clockCompared: (skewMs) => clockSkew.set(skewMs / 1000),
    eventsStreamed: (count) => streamed.inc(toAmount(count)),
    inFlight(kind, count) {
      counts[kind] = count;
    },
  };
}

const OUTCOME_LABELS: ('outcome' | 'error_code')[] = ['outcome', 'error_code'];

const toLabels = (outcome: MeasuredOutcome) =>
  outcome.ok ? { outcome: 'completed', error_code: 'none' } : { outcome: 'failed', error_code: outcome.errorCode };

/** The library throws on negative and non-finite values, and a metric must not fail the work that it measures. */
const toAmount = (value: number) => (Number.isFinite(value) && value > 0 ? value : 0);

/** Negative durations come from clocks that differ between processes; they count as 0. */
const toSeconds = (ms: number) => toAmount(ms) / 1000;
