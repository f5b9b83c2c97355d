import { closest, distance } from 'fastest-levenshtein';
import type { Environment } from './environment.ts';
import { VARIABLES } from './variables.ts';

/** Read by the scheduler, by compose.yaml and by Node.js. */
const OTHER_VARIABLES = [
  'API_URL',
  'SCHEDULER_INTERVAL_MS',
  'POSTGRES_PASSWORD',
  'CARILLON_HOST',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'TZ',
];
const SETTINGS = [...Object.keys(VARIABLES), 'API_URL', 'SCHEDULER_INTERVAL_MS'];
const KNOWN = new Set([...Object.keys(VARIABLES).flatMap((name) => [name, `${name}_FILE`]), ...OTHER_VARIABLES]);

/** First words that names of other programs have as well: a name with one of them has to be similar as a whole. */
const COMMON_WORDS = new Set(['NODE', 'OTEL', 'LOG', 'API', 'APP', 'BASE', 'DATA', 'ADMIN', 'ANTHROPIC']);
const OWN_WORDS = new Set(
  SETTINGS.filter((name) => name.includes('_'))
    .map(getFirstWord)
    .filter((word) => !COMMON_WORDS.has(word)),
);
/** A short name is similar to many. */
const MIN_LENGTH = 6;
const MAX_DISTANCE = 2;

/**
 * Names, each in one line, the variables that nothing reads and that are probably misspelt settings: every unknown one of
 * `fileNames`, the names in `.env`, and those of the environment that resemble a setting.
 */
export function listUnknownVariables(env: Environment, fileNames: readonly string[]): string[] {
  const inFile = new Set(fileNames);
  return [...new Set([...Object.keys(env), ...fileNames])]
    .filter((name) => !KNOWN.has(name) && !isOfOpenTelemetry(name) && (inFile.has(name) || resemblesSetting(name)))
    .sort()
    .map(describeUnknown);
}

function describeUnknown(name: string): string {
  const line = `${name} is not a setting of Carillon and is ignored.`;
  return resemblesSetting(name) ? `${line} The nearest is ${findNearest(name)}.` : line;
}

/** The exporter reads variables of the standard itself. */
const isOfOpenTelemetry = (name: string) => name.startsWith('OTEL_');

function resemblesSetting(name: string): boolean {
  if (name.includes('_') && OWN_WORDS.has(getFirstWord(name))) return true;
  const nearest = withoutUnderscores(findNearest(name));
  return nearest.length >= MIN_LENGTH && distance(withoutUnderscores(name), nearest) <= MAX_DISTANCE;
}

function findNearest(name: string): string {
  const sameWord = SETTINGS.filter((setting) => getFirstWord(setting) === getFirstWord(name));
  return closest(name.toUpperCase(), sameWord.length > 0 ? sameWord : SETTINGS);
}

function getFirstWord(name: string): string {
  return name.split('_', 1)[0] ?? name;
}

const withoutUnderscores = (name: string) => name.toUpperCase().replaceAll('_', '');
