import { ConfigError, type Environment, readVariable } from './environment.ts';

/** A `token` of RFC 9110. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** The collector and the sampling of traces; null without a collector. */
export function readTracing(env: Environment) {
  const endpoint = readVariable(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === null) return null;
  return {
    url: `${endpoint}/v1/traces`,
    headers: readPairs(env, 'OTEL_EXPORTER_OTLP_HEADERS', isHeader),
    serviceName: readVariable(env, 'OTEL_SERVICE_NAME'),
    resource: readPairs(env, 'OTEL_RESOURCE_ATTRIBUTES', (name) => name !== ''),
    sampler: readVariable(env, 'OTEL_TRACES_SAMPLER'),
    ratio: readVariable(env, 'OTEL_TRACES_SAMPLER_ARG'),
  };
}

const isHeader = (name: string, value: string) => HEADER_NAME.test(name) && /^[\t\x20-\x7e]*$/.test(value);

type PairsVariable = 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES';

/** Parses `name=value,name=value`, percent-encoded. The error does not repeat values, which may be keys. */
function readPairs(env: Environment, variable: PairsVariable, isValid: (name: string, value: string) => boolean) {
  const entries = (readVariable(env, variable) ?? '').split(',').filter((entry) => entry.trim() !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      const [name, value] = [entry.slice(0, Math.max(at, 0)), entry.slice(at + 1)].map((part) => decode(part.trim()));
      if (!name || value === undefined || !isValid(name, value)) {
        throw new ConfigError(`${variable} takes name=value,name=value, with %2C for a comma in a value.`);
      }
      return [name, value];
    }),
  );
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
