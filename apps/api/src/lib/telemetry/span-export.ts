import { setTimeout as delay } from 'node:timers/promises';
import { TraceFlags } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { activeSpan } from './tracing.ts';

const MAX_QUEUED_SPANS = 4096;
const EXPORT_DELAY_MS = 2000;
const LOG_INTERVAL_MS = 60_000;
const SHUTDOWN_TIMEOUT_MS = 2000;

/** Exports spans from a bounded queue. Spans beyond the bound are dropped and counted in the log, once a minute. */
export function exportBounded(exporter: SpanExporter, log: Logger): SpanProcessor {
  let queued = 0;
  let exporting = 0;
  let lost = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function countLost(spans: number, error?: Error) {
    lost += spans;
    if (performance.now() - loggedAt >= LOG_INTERVAL_MS) logLost(error);
  }

  function logLost(error?: Error) {
    loggedAt = performance.now();
    log.warn({ spans: lost, ...(error && { err: error }) }, 'spans lost: the collector did not accept them');
    lost = 0;
  }

  const batches = new BatchSpanProcessor({
    maxQueueSize: MAX_QUEUED_SPANS,
    scheduledDelayMillis: EXPORT_DELAY_MS,
    exporter: {
      export(spans, done) {
        queued -= spans.length;
        exporting += spans.length;
        // The span that filled the batch is active here, and the export is not part of it.
        activeSpan.run(undefined, () =>
          exporter.export(spans, (result) => {
            exporting -= spans.length;
            if (result.code !== ExportResultCode.SUCCESS) countLost(spans.length, result.error);
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
      if (queued >= MAX_QUEUED_SPANS) return countLost(1);
      queued += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    async shutdown() {
      const timeout = new AbortController();
      const expired = delay(SHUTDOWN_TIMEOUT_MS, undefined, { signal: timeout.signal });
      await Promise.race([batches.shutdown(), expired].map((one) => one.catch(() => {})));
      timeout.abort();
      lost += queued + exporting;
      queued = 0;
      exporting = 0;
      if (lost > 0) logLost();
    },
  };
}
