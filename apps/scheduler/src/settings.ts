import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A setting that cannot be used; the message is the one line that stops the start. */
export class SettingError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Throws a `SettingError`. In development, the secret can be the one that the API generated into `DATA_DIR`. */
export function readSettings(env: Environment) {
  const port = env.PORT || '3000';
  const apiUrl = (env.API_URL || `http://127.0.0.1:${port}`).replace(/\/+$/, '');
  if (!URL.canParse(apiUrl) || !['http:', 'https:'].includes(new URL(apiUrl).protocol)) {
    throw new SettingError(
      `API_URL is ${JSON.stringify(apiUrl)}, but takes a URL that begins with http:// or https://.`,
    );
  }
  const logLevel = env.LOG_LEVEL || 'info';
  if (!LOG_LEVELS.includes(logLevel)) {
    throw new SettingError(`LOG_LEVEL is ${JSON.stringify(logLevel)}, but takes ${LOG_LEVELS.join(' or ')}.`);
  }
  return { apiUrl, intervalMs: readInterval(env), logLevel, cronSecret: readSecret(env) };
}

/** Throws a `SettingError`. */
export function readInterval(env: Environment): number {
  const interval = env.SCHEDULER_INTERVAL_MS || '1000';
  const intervalMs = Number(interval);
  if (!/^\d+$/.test(interval) || intervalMs < 10 || intervalMs > 3_600_000) {
    throw new SettingError(
      `SCHEDULER_INTERVAL_MS is ${JSON.stringify(interval)}, but takes a whole number from 10 to 3600000.`,
    );
  }
  return intervalMs;
}

function readSecret(env: Environment): string {
  if (env.CRON_SECRET) return env.CRON_SECRET;
  if (env.CRON_SECRET_FILE) {
    const secret = readText(env.CRON_SECRET_FILE)?.trim();
    if (secret) return secret;
    throw new SettingError(`CRON_SECRET_FILE names ${env.CRON_SECRET_FILE}, which cannot be read or is empty.`);
  }
  if (env.NODE_ENV === 'production') throw new SettingError('Production needs CRON_SECRET, the same as for the API.');
  const path = resolve(env.DATA_DIR || '.data', 'secrets.json');
  try {
    const secret: unknown = JSON.parse(readText(path) ?? '').CRON_SECRET;
    if (typeof secret === 'string' && secret) return secret;
  } catch {
    // Reported below.
  }
  throw new SettingError(
    `CRON_SECRET is not set, and ${path} does not contain one yet: start the API first, or set it.`,
  );
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
