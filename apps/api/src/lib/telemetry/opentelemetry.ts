import {
  type Context,
  type Span as OpenTelemetrySpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { exportBounded } from './span-export.ts';
import { activeSpan, type OpenSpan, type SpanOptions, type Trace } from './tracing.ts';

type TracingSettings = NonNullable<Config['tracing']>;

/** The oldest are dropped first. */
const MAX_MARKS = 10_000;
const MAX_VALUE_LENGTH = 500;
const SPAN_KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

/** Registers nothing globally, so that libraries with their own instrumentation send no spans. */
export function createTrace(settings: TracingSettings, log: Logger): Trace {
  const exporter = new OTLPTraceExporter({ url: settings.url, headers: settings.headers });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': settings.serviceName })),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE_LENGTH },
    spanProcessors: [exportBounded(exporter, log)],
  });
  const tracer = provider.getTracer('carillon');
  const marks = new Map<string, SpanContext>();

  function begin(name: string, attributes: Parameters<Trace['begin']>[1], options: SpanOptions = {}): OpenSpan {
    const { kind, causedBy } = options;
    const cause = causedBy === undefined ? undefined : marks.get(causedBy);
    const span = tracer.startSpan(
      name,
      { attributes, ...(kind && { kind: SPAN_KINDS[kind] }), ...(cause && { links: [{ context: cause }] }) },
      toParentContext(options),
    );
    return toOpenSpan(span);
  }

  return {
    isOn: true,
    begin,
    async span(name, attributes, work, options) {
      const span = begin(name, attributes, options);
      try {
        return await span.run(() => work(span));
      } catch (error) {
        span.fail(error instanceof Error ? error.constructor.name : typeof error);
        throw error;
      } finally {
        span.end();
      }
    },
    detached: (work) => activeSpan.run(undefined, work),
    mark(key, sameAs) {
      const cause = (sameAs === undefined ? undefined : marks.get(sameAs)) ?? activeSpan.getStore()?.spanContext();
      if (!cause) return;
      marks.delete(key);
      marks.set(key, cause);
      if (marks.size > MAX_MARKS) marks.delete(marks.keys().next().value as string);
    },
    close: () => provider.shutdown(),
  };
}

function toParentContext({ causedBy, traceparent }: SpanOptions): Context {
  const active = activeSpan.getStore();
  const remote = traceparent === undefined ? null : parseTraceParent(traceparent);
  if (remote) return trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
  return active && causedBy === undefined ? trace.setSpan(ROOT_CONTEXT, active) : ROOT_CONTEXT;
}

function toOpenSpan(span: OpenTelemetrySpan): OpenSpan {
  return {
    set: (attributes) => void span.setAttributes(attributes),
    fail(errorType) {
      span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
    },
    run: (work) => activeSpan.run(span, work),
    end() {
      if (span.isRecording()) span.end();
    },
  };
}
