import { ConfigError, type Environment, readVariable } from './environment.ts';

/** A `token` of RFC 9110. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** The collector of traces; null without one. */
export function readTracing(env: Environment) {
  const endpoint = readVariable(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint === null) return null;
  return {
    url: `${endpoint}/v1/traces`,
    headers: readHeaders(env),
    serviceName: readVariable(env, 'OTEL_SERVICE_NAME'),
  };
}

const isHeader = (name: string, value: string) => HEADER_NAME.test(name) && /^[\t\x20-\x7e]*$/.test(value);

/** Parses `name=value,name=value`, percent-encoded. The error does not repeat values, which may be keys. */
function readHeaders(env: Environment) {
  const entries = (readVariable(env, 'OTEL_EXPORTER_OTLP_HEADERS') ?? '')
    .split(',')
    .filter((entry) => entry.trim() !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      const [name, value] = [entry.slice(0, Math.max(at, 0)), entry.slice(at + 1)].map((part) => decode(part.trim()));
      if (!name || value === undefined || !isHeader(name, value)) {
        throw new ConfigError(
          'OTEL_EXPORTER_OTLP_HEADERS takes name=value,name=value, with %2C for a comma in a value.',
        );
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
