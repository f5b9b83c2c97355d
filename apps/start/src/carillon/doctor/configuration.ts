import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, ConfigError, loadConfig } from '@carillon/api/lib/config/config';
import { readEnvFileNames } from '@carillon/api/lib/config/env-file';
import type { Environment } from '@carillon/api/lib/config/environment';
import { assertStrongSecrets } from '@carillon/api/lib/config/production';
import { SECRETS, VARIABLES } from '@carillon/api/lib/config/variables';
import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { readSettings, SettingError } from '@carillon/scheduler/settings';

const { ok, warning, problem } = findingsFor('configuration');
const MAX_PROBLEMS = 100;

export interface CheckedConfig {
  /** With a valid value in place of each invalid one. */
  config: Config;
  /** The variables whose value was replaced: checks that depend on them are skipped. */
  replaced: ReadonlySet<string>;
  findings: Finding[];
}

/**
 * Finds every problem of the settings, where a start stops at the first: replaces an invalid value and loads the settings
 * again. Generates and writes nothing.
 */
export function checkConfig(env: Environment, texts: DoctorTexts, folder = process.cwd()): CheckedConfig {
  const findings: Finding[] = [];
  const replaced = new Set<string>();
  const reported = new Set<string>();
  const fileNames = readEnvFileNames(folder);
  let current: Environment = withRandomSecrets(env);
  for (let round = 0; round < MAX_PROBLEMS; round++) {
    try {
      const config = loadConfig(current, fileNames);
      findings.push(
        ...checkStrength(config, env, texts),
        ...checkSchedulerSettings(env, texts),
        ...checkSpelling(config, texts),
        ...checkEmbeddedDatabase(config, replaced, texts),
      );
      if (findings.length === 0)
        findings.push(ok(texts.settingsValid[config.production ? 'production' : 'development']));
      return { config, replaced, findings };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const names = findNames(error.message);
      // The first name is usually the invalid one; if replacing it did not help, replace all.
      const invalid = / needs /.test(error.message) || reported.has(error.message) ? names : names.slice(0, 1);
      if (!reported.has(error.message)) findings.push(problem(error.message, texts.setAsDescribed(invalid.join(', '))));
      reported.add(error.message);
      for (const name of invalid) replaced.add(name);
      current = replaceValues(current, invalid);
    }
  }
  throw new Error(`The settings have more than ${MAX_PROBLEMS} problems.`);
}

const random = () => randomBytes(32).toString('base64');

/** For variables that production requires; others are unset. */
const REPLACEMENTS: Readonly<Record<string, () => string>> = {
  JWT_SECRET: random,
  ENCRYPTION_KEY: random,
  CRON_SECRET: random,
  ADMIN_KEY: random,
  AI_BASE_URL: () => 'offline',
  SMTP_URL: () => 'smtp://localhost',
  STORAGE_DRIVER: () => 'disk',
  BASE_URL: () => 'https://localhost',
  APP_URL: () => 'https://localhost',
  S3_BUCKET: () => 'replacement',
  S3_ACCESS_KEY_ID: () => 'replacement',
  S3_SECRET_ACCESS_KEY: () => 'replacement',
};

function replaceValues(env: Environment, names: readonly string[]): Environment {
  const next: Record<string, string | undefined> = { ...env };
  for (const name of names) {
    next[name] = REPLACEMENTS[name]?.();
    next[`${name}_FILE`] = undefined;
  }
  return next;
}

/** The variables that an error names. */
function findNames(message: string): string[] {
  const [, needed] = /needs ([A-Z][A-Z0-9_, ]*[A-Z0-9])/.exec(message) ?? [];
  const found = (needed ?? message).match(/\b[A-Z][A-Z0-9_]+\b/g) ?? [];
  const names = found.map((name) => name.replace(/_FILE$/, '')).filter((name) => name in VARIABLES);
  // An unreadable file of generated secrets is named by its path.
  return names.length > 0 ? [...new Set(names)] : [...SECRETS];
}

/** Adds missing secrets, which development would otherwise generate and write. */
function withRandomSecrets(env: Environment): Environment {
  const isGiven = (name: string) => env[name] || env[`${name}_FILE`];
  if (env.NODE_ENV === 'production' || existsSync(join(resolve(env.DATA_DIR || '.data'), 'secrets.json'))) return env;
  return replaceValues(
    env,
    SECRETS.filter((name) => !isGiven(name)),
  );
}

/** Production rejects weak secrets itself. */
function checkStrength(
  { production, jwtSecret, cronSecret, adminKey, encryptionKeys }: Config,
  env: Environment,
  texts: DoctorTexts,
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
    return [warning((error as Error).message, texts.productionRejects)];
  }
}

function checkSchedulerSettings(env: Environment, texts: DoctorTexts): Finding[] {
  try {
    readSettings({
      API_URL: env.API_URL,
      SCHEDULER_INTERVAL_MS: env.SCHEDULER_INTERVAL_MS,
      CRON_SECRET: 'checked above',
    });
    return [];
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    return [problem(error.message, texts.correctSchedulerSetting)];
  }
}

const checkSpelling = ({ unknownVariables }: Config, texts: DoctorTexts): Finding[] =>
  unknownVariables.map((line) => warning(line, texts.correctSpelling));

function checkEmbeddedDatabase(
  { production, databaseUrl }: Config,
  replaced: ReadonlySet<string>,
  texts: DoctorTexts,
): Finding[] {
  if (!production || databaseUrl !== null || replaced.has('DATABASE_URL')) return [];
  return [warning(texts.embeddedInProduction, texts.useServer)];
}
