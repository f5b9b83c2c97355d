import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span as OpenTelemetrySpan } from '@opentelemetry/api';

/** Names, ids and figures: never text that a user wrote, a URL or the message of an error. */
export type Attributes = Record<string, string | number | boolean | undefined>;

export interface Span {
  set(attributes: Attributes): void;
  /** `errorType` comes from a closed set. */
  fail(errorType: string): void;
}

export interface OpenSpan extends Span {
  run<T>(work: () => T): T;
  /** May be called again; the first call counts. */
  end(): void;
}

export interface SpanOptions {
  kind?: 'server' | 'client';
  /** Starts a new trace, linked to the span that `mark` stored under this key. */
  causedBy?: string;
  /** The request header of a caller that traces too: the span continues its trace. */
  traceparent?: string | undefined;
}

export interface Trace {
  readonly isOn: boolean;
  /** Runs `work` in a child of the active span. The span fails if `work` throws. */
  span<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>, options?: SpanOptions): Promise<T>;
  begin(name: string, attributes: Attributes, options?: SpanOptions): OpenSpan;
  /** Runs `work` outside the active span, for work that outlives it or serves others too. */
  detached<T>(work: () => T): T;
  /** Stores the active span as the cause of later work under `key`; with `sameAs`, the cause stored under that key. */
  mark(key: string, sameAs?: string): void;
  /** Flushes, for up to 2 s. */
  close(): Promise<void>;
}

const NO_SPAN: OpenSpan = { set() {}, fail() {}, run: (work) => work(), end() {} };

export const NO_TRACE: Trace = {
  isOn: false,
  span: (_name, _attributes, work) => work(NO_SPAN),
  begin: () => NO_SPAN,
  detached: (work) => work(),
  mark() {},
  async close() {},
};

export const activeSpan = new AsyncLocalStorage<OpenTelemetrySpan | undefined>();

export function activeSpanIds(): { traceId?: string; spanId?: string } {
  const context = activeSpan.getStore()?.spanContext();
  return context ? { traceId: context.traceId, spanId: context.spanId } : {};
}
