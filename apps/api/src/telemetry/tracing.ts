import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span as OpenTelemetrySpan } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** The span that the running code belongs to. */
export const activeSpan = new AsyncLocalStorage<OpenTelemetrySpan | undefined>();

/** The ids of the active span, for a log line. */
export function activeSpanIds(): { traceId?: string; spanId?: string } {
  const context = activeSpan.getStore()?.spanContext();
  return context ? { traceId: context.traceId, spanId: context.spanId } : {};
}

/** What is told of a span. Never what a user has written, nor an address, nor the text of an error. */
export type Attributes = Record<string, string | number | boolean | undefined>;

export interface Span {
  set(attributes: Attributes): void;
  /** `errorType` is a word of a closed set. */
  fail(errorType: string): void;
}

/** A span that is ended by whoever began it. */
export interface OpenSpan extends Span {
  /** Runs `work`, and what it begins, within the span. */
  run<T>(work: () => T): T;
  /** Once is enough, and the first one counts. */
  end(): void;
}

export interface SpanOptions {
  kind?: 'server' | 'client';
  /** Begins a trace of its own, with a link to the span that `mark` has put under this key, if it is still known. */
  causedBy?: string;
  /** The header of a caller that traces too: the span continues its trace. */
  traceparent?: string | undefined;
}

/** The traces of the process. */
export interface Trace {
  /** False where nobody looks at them. */
  readonly isOn: boolean;
  /** Runs `work` within a span, under the active one. What `work` throws makes the span a failed one. */
  span<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>, options?: SpanOptions): Promise<T>;
  begin(name: string, attributes: Attributes, options?: SpanOptions): OpenSpan;
  /** Runs `work` outside of the active span: it goes on for others too. */
  detached<T>(work: () => T): T;
  /** Makes the active span the cause of what will be done under `key`; or what the cause of `sameAs` is, where known. */
  mark(key: string, sameAs?: string): void;
  /** Sends what is left, for 2 s at most. */
  close(): Promise<void>;
}

const NO_SPAN: OpenSpan = { set() {}, fail() {}, run: (work) => work(), end() {} };

/** Of a process whose traces nobody looks at. */
export const NO_TRACE: Trace = {
  isOn: false,
  span: (_name, _attributes, work) => work(NO_SPAN),
  begin: () => NO_SPAN,
  detached: (work) => work(),
  mark() {},
  async close() {},
};

/**
 * The traces of these settings, sent by OTLP over HTTP; without settings OpenTelemetry is not even loaded. A collector
 * that hangs or fails costs nobody any time: what does not fit into the queue is dropped, and counted in the log.
 */
export async function openTrace(settings: Config['tracing'], log: Logger): Promise<Trace> {
  if (settings === null) return NO_TRACE;
  const { startTracing } = await import('./tracing-sdk.ts');
  return startTracing(settings, log);
}
