import { setTimeout as delay } from 'node:timers/promises';
import { TraceFlags } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { activeSpan } from './tracing.ts';

/** Spans that wait until the collector has taken those before them. */
const WAIT_AT_MOST = 4096;
const SEND_AFTER_MS = 2000;
const TELL_EVERY_MS = 60_000;
/** How long a shutdown waits for the collector. */
const LONGEST_SHUTDOWN_MS = 2000;

/**
 * Sends spans in batches. While the collector is slow or away so many are kept, and the rest is dropped; a log line tells
 * how many were lost, once a minute at most.
 */
export function exportBounded(exporter: SpanExporter, log: Logger): SpanProcessor {
  let waiting = 0;
  let underWay = 0;
  let lost = 0;
  let toldAt = Number.NEGATIVE_INFINITY;

  function lose(spans: number, error?: Error) {
    lost += spans;
    if (performance.now() - toldAt >= TELL_EVERY_MS) tell(error);
  }

  function tell(error?: Error) {
    toldAt = performance.now();
    log.warn({ spans: lost, ...(error && { err: error }) }, 'spans were lost: the collector did not take them');
    lost = 0;
  }

  const batches = new BatchSpanProcessor({
    maxQueueSize: WAIT_AT_MOST,
    scheduledDelayMillis: SEND_AFTER_MS,
    exporter: {
      export(spans, done) {
        waiting -= spans.length;
        underWay += spans.length;
        // Whatever span happened to be the last of the batch: it has no part in this.
        activeSpan.run(undefined, () =>
          exporter.export(spans, (result) => {
            underWay -= spans.length;
            if (result.code !== ExportResultCode.SUCCESS) lose(spans.length, result.error);
            done(result);
          }),
        );
      },
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
      shutdown: () => exporter.shutdown(),
    },
  });
  return {
    onStart: (span, parent) => batches.onStart(span, parent),
    onEnd(span) {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      if (waiting >= WAIT_AT_MOST) return lose(1);
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    async shutdown() {
      const timeout = new AbortController();
      const late = delay(LONGEST_SHUTDOWN_MS, undefined, { signal: timeout.signal });
      await Promise.race([batches.shutdown(), late].map((one) => one.catch(() => {})));
      timeout.abort();
      lost += waiting + underWay;
      [waiting, underWay] = [0, 0];
      if (lost > 0) tell();
    },
  };
}
