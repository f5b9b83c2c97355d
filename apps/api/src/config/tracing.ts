import { type Environment, readVariable } from './read.ts';
import { ConfigError } from './secrets.ts';

/** As HTTP has it for the names of headers. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Where traces go, and how many of them; null where no collector is named. */
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

type Pairs = 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES';

/** `name=value,name=value`, percent-encoded. A value may be a key: the error does not repeat it. */
function readPairs(env: Environment, variable: Pairs, isGood: (name: string, value: string) => boolean) {
  const entries = (readVariable(env, variable) ?? '').split(',').filter((entry) => entry.trim() !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const at = entry.indexOf('=');
      const [name, value] = [entry.slice(0, Math.max(at, 0)), entry.slice(at + 1)].map((part) => decoded(part.trim()));
      if (!name || value === undefined || !isGood(name, value)) {
        throw new ConfigError(`${variable} takes name=value,name=value, with %2C for a comma in a value.`);
      }
      return [name, value];
    }),
  );
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
