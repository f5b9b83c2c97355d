import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';

/** The span that the running code is part of. */
export const activeSpan = new AsyncLocalStorage<Span | undefined>();

/** What a log line says of the span that it is written in. */
export function spanOfLine(): { traceId?: string; spanId?: string } {
  const context = activeSpan.getStore()?.spanContext();
  return context ? { traceId: context.traceId, spanId: context.spanId } : {};
}
