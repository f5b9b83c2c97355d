import { baseUrl, oneOf, share, text } from './parsers.ts';

/** Those of OpenTelemetry that are read here. Its exporter reads those of its timeout, compression and certificates. */
export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    kind: baseUrl,
    default: null,
    meaning: 'collector that traces are sent to by OTLP over HTTP; unset: there are none',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    kind: text,
    default: null,
    meaning: 'headers for the collector, name=value,name=value and percent-encoded',
  },
  OTEL_SERVICE_NAME: { kind: text, default: 'carillon', meaning: 'what the traces call this service' },
  OTEL_RESOURCE_ATTRIBUTES: {
    kind: text,
    default: null,
    meaning: 'more about this process, name=value,name=value and percent-encoded',
  },
  OTEL_TRACES_SAMPLER: {
    kind: oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    default: 'parentbased_always_on',
    meaning: 'which traces are kept',
  },
  OTEL_TRACES_SAMPLER_ARG: { kind: share, default: '1', meaning: 'the share that the samplers by ratio keep' },
} as const;
