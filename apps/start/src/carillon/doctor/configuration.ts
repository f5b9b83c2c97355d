import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Config, ConfigError, loadConfig } from '@carillon/api/config/config';
import type { Environment } from '@carillon/api/config/environment';
import { assertStrongSecrets } from '@carillon/api/config/production';
import { SECRETS, VARIABLES } from '@carillon/api/config/variables';
import { readSettings, SettingError } from '@carillon/scheduler/settings';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warning, fault } = findingsOf('configuration');
/** Read by the scheduler, and by the compose file that comes with Carillon. */
const OTHERS = ['API_URL', 'SCHEDULER_INTERVAL_MS', 'POSTGRES_PASSWORD', 'CARILLON_HOST', 'NODE_OPTIONS', 'TZ'];
const MOST_FAULTS = 100;

export interface ExaminedConfig {
  /** Stands in for what is wrong with something harmless. */
  config: Config;
  /** The variables that something else stands in for: what depends on them cannot be looked at. */
  doubtful: ReadonlySet<string>;
  findings: Finding[];
}

/** Names every fault of the settings, where a start would end at the first. Nothing is generated or written. */
export function examineConfig(env: Environment, folder = process.cwd()): ExaminedConfig {
  const findings: Finding[] = [];
  const doubtful = new Set<string>();
  const told = new Set<string>();
  let mended: Environment = withoutGenerating(env);
  for (let round = 0; round < MOST_FAULTS; round++) {
    try {
      const config = loadConfig(mended);
      findings.push(...strength(config, env), ...ofScheduler(env), ...strangers(folder));
      if (findings.length === 0)
        findings.push(ok(`${config.production ? 'production' : 'development'} settings, all of them valid`));
      return { config, doubtful, findings };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const names = namesIn(error.message);
      // Most lines name first what is to be changed; where that did not help, another one of them is.
      const wrong = / needs /.test(error.message) || told.has(error.message) ? names : names.slice(0, 1);
      if (!told.has(error.message))
        findings.push(fault(error.message, `Set ${wrong.join(', ')} as .env.example says.`));
      told.add(error.message);
      for (const name of wrong) doubtful.add(name);
      mended = replace(mended, wrong);
    }
  }
  throw new Error(`The settings have more than ${MOST_FAULTS} faults.`);
}

const random = () => randomBytes(32).toString('base64');

/** What a variable is replaced by, where none at all would be a fault in production. */
const STAND_INS: Readonly<Record<string, () => string>> = {
  JWT_SECRET: random,
  ENCRYPTION_KEY: random,
  CRON_SECRET: random,
  ADMIN_KEY: random,
  AI_BASE_URL: () => 'offline',
  SMTP_URL: () => 'smtp://localhost',
  STORAGE_DRIVER: () => 'disk',
  BASE_URL: () => 'https://localhost',
  APP_URL: () => 'https://localhost',
  S3_BUCKET: () => 'stand-in',
  S3_ACCESS_KEY_ID: () => 'stand-in',
  S3_SECRET_ACCESS_KEY: () => 'stand-in',
};

function replace(env: Environment, names: readonly string[]): Environment {
  const next: Record<string, string | undefined> = { ...env };
  for (const name of names) {
    next[name] = STAND_INS[name]?.();
    next[`${name}_FILE`] = undefined;
  }
  return next;
}

/** The variables that a line of the configuration is about: those before it says what to do. */
function namesIn(message: string): string[] {
  const [, needed] = /needs ([A-Z][A-Z0-9_, ]*[A-Z0-9])/.exec(message) ?? [];
  const found = (needed ?? message).match(/\b[A-Z][A-Z0-9_]+\b/g) ?? [];
  const names = found.map((name) => name.replace(/_FILE$/, '')).filter((name) => name in VARIABLES);
  // The file of generated secrets is named by its path.
  return names.length > 0 ? [...new Set(names)] : [...SECRETS];
}

/** Development would generate the secrets that are missing. */
function withoutGenerating(env: Environment): Environment {
  const isGiven = (name: string) => env[name] || env[`${name}_FILE`];
  if (env.NODE_ENV === 'production' || existsSync(join(resolve(env.DATA_DIR || '.data'), 'secrets.json'))) return env;
  return replace(
    env,
    SECRETS.filter((name) => !isGiven(name)),
  );
}

/** Production does not start with a weak secret; elsewhere it is worth a word. */
function strength(
  { production, jwtSecret, cronSecret, adminKey, encryptionKeys }: Config,
  env: Environment,
): Finding[] {
  if (production) return [];
  const secrets = {
    JWT_SECRET: jwtSecret,
    CRON_SECRET: cronSecret,
    ADMIN_KEY: adminKey,
    ENCRYPTION_KEY: env.ENCRYPTION_KEY ?? '',
  };
  try {
    assertStrongSecrets(secrets, encryptionKeys);
    return [];
  } catch (error) {
    return [warning((error as Error).message, 'Production would refuse it.')];
  }
}

function ofScheduler(env: Environment): Finding[] {
  try {
    readSettings({
      API_URL: env.API_URL,
      SCHEDULER_INTERVAL_MS: env.SCHEDULER_INTERVAL_MS,
      CRON_SECRET: 'read elsewhere',
    });
    return [];
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    return [fault(error.message, 'The scheduler does not start with it.')];
  }
}

/** What stands in `.env` and is read by nobody, probably for being misspelt. */
function strangers(folder: string): Finding[] {
  const path = join(folder, '.env');
  if (!existsSync(path)) return [];
  const isKnown = (name: string) =>
    name in VARIABLES || OTHERS.includes(name) || (name.endsWith('_FILE') && name.slice(0, -5) in VARIABLES);
  return Object.keys(parseEnv(readFileSync(path, 'utf8')))
    .filter((name) => !isKnown(name))
    .map((name) =>
      warning(`${name} stands in .env, but is no setting of Carillon.`, `Is it misspelt? .env.example lists them all.`),
    );
}
