import { readFileSync } from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon from 'autocannon';
import { type SentRequest, startMixedLoad } from '../../../../../test/system/mixed-load.ts';
import type { LoadedMinute, SteadyLoad } from './steady-load.ts';

const GRACE_MS = 20_000;

// Reads the load from the file LOAD and prints a `LoadedMinute` for each minute. What it stores does not grow.
const { url, minutes, minuteMs, connections, reads, others } = JSON.parse(
  readFileSync(process.env.LOAD ?? '', 'utf8'),
) as SteadyLoad;
const recorded = Array.from({ length: minutes }, () => ({ requests: 0, histogram: createHistogram() }));
let failures = 0;
let firstFailure: string | null = null;
const fail = (failure: string) => {
  failures += 1;
  firstFailure ??= failure;
};

const startedAt = performance.now();
const onSent = ({ kind, failure }: SentRequest) => {
  if (failure !== null) fail(`${kind}: ${failure}`);
};
const mixed = others.map((options) => startMixedLoad({ url, ...options, onSent }));
const recordRead = (statusCode: number, durationMs: number) => {
  if (statusCode !== 200) fail(`a read was answered with ${statusCode}`);
  const minute = recorded[Math.floor((performance.now() - startedAt) / minuteMs)];
  if (!minute) return;
  minute.requests += 1;
  minute.histogram.record(Math.max(1, Math.round(durationMs * 1000)));
};
let client = 0;
const reading = autocannon({
  url,
  connections,
  duration: (minutes * minuteMs) / 1000,
  setupClient(connection) {
    connection.setRequests((reads[client % reads.length] ?? []).map((request) => ({ ...request })));
    connection.on('response', (statusCode, _bytes, durationMs) => recordRead(statusCode, durationMs));
    client += 1;
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
console.log('sending');
const { errors } = await reading;
if (errors > 0) fail(`${errors} reads without an answer`);
const isStopped = await Promise.race([
  Promise.all(mixed.map(({ stop }) => stop())).then(() => true),
  delay(GRACE_MS, false),
]);
if (!isStopped) fail(`some requests had no answer ${GRACE_MS / 1000} s after the load`);
const result: LoadedMinute[] = recorded.map(({ requests, histogram }) => ({
  requestsPerSecond: (requests * 1000) / minuteMs,
  p99Ms: histogram.percentile(99) / 1000,
}));
console.log(failures > 0 ? `failed: ${failures} requests, first: ${firstFailure}` : `done: ${JSON.stringify(result)}`);
process.exit(0);
