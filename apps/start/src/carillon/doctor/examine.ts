import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@carillon/api/config/config';
import type { Environment } from '@carillon/api/config/environment';
import { systemClock } from '@carillon/api/context';
import { connect, type Db, settings } from '@carillon/db';
import { withDatabase } from '../command.ts';
import { examineConfig } from './configuration.ts';
import { examineDataFolder } from './data-folder.ts';
import { examineDatabase } from './database.ts';
import { type Finding, findingsOf } from './finding.ts';
import { examineMail } from './mail.ts';
import { examineProvider } from './provider.ts';
import { examineProxy } from './proxy.ts';
import { examineScheduler } from './scheduler.ts';
import { examineSealed } from './sealed.ts';
import { examineStorage } from './storage.ts';
import { unusable } from './unusable.ts';

const DEADLINE_MS = 10_000;
/** What a new installation has set. */
const DEFAULT_MODEL = 'openai/gpt-5-mini';

export interface ExamineOptions {
  /** How many API processes there are to be; 1 unless told. */
  processes?: number;
  now?: () => Date;
  /** Where `.env` is; the working folder unless told. */
  cwd?: string;
  /** Told what is looked at next. */
  onCheck?: (check: string, done: number, of: number) => void;
}

const CHECKS = ['data folder', 'database', 'AI provider', 'mail', 'storage', 'reverse proxy'] as const;

/** What keeps this installation from working, or may: each part is looked at, whatever is wrong with the others. */
export async function examine(env: Environment, options: ExamineOptions = {}): Promise<Finding[]> {
  const { processes = 1, now = systemClock, cwd = process.cwd(), onCheck = () => {} } = options;
  const { config, doubtful, findings } = examineConfig(env, cwd);
  let model = DEFAULT_MODEL;
  const look = async (check: (typeof CHECKS)[number], names: readonly string[], work: () => Promise<Finding[]>) => {
    onCheck(check, CHECKS.indexOf(check), CHECKS.length);
    const wrong = names.filter((name) => doubtful.has(name));
    const { warning } = findingsOf(check);
    if (wrong.length > 0) findings.push(warning('This was not looked at.', `Mend ${wrong.join(', ')} first.`));
    else findings.push(...(await work()));
  };
  await look('data folder', ['DATA_DIR'], () => examineDataFolder(config.dataDir, env, cwd));
  await look('database', ['DATABASE_URL', 'DATABASE_POOL'], () =>
    withOpenDatabase(config, async (db) => {
      const { findings: found, readable } = await examineDatabase(db, { config, processes, now });
      if (!readable) return found;
      const [row] = await db.select({ model: settings.defaultModel }).from(settings);
      model = row?.model ?? model;
      const sealed = doubtful.has('ENCRYPTION_KEY') ? [] : await examineSealed(db, config.encryptionKeys);
      return [...found, ...sealed, ...(await examineScheduler(db, now()))];
    }),
  );
  await look(
    'AI provider',
    ['AI_BASE_URL', 'AI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'AI_TIMEOUT_MS'],
    () => examineProvider(config, model),
  );
  await look('mail', ['SMTP_URL'], () => examineMail(config.mail));
  const ofStorage = [
    'DATA_DIR',
    'STORAGE_DRIVER',
    'S3_ENDPOINT',
    'S3_REGION',
    'S3_BUCKET',
    'S3_ACCESS_KEY_ID',
    'S3_SECRET_ACCESS_KEY',
  ];
  await look('storage', ofStorage, () => examineStorage(config));
  await look('reverse proxy', ['BASE_URL'], () => examineProxy(config));
  return findings;
}

/** An embedded database that was never started is not made only to be looked at. */
async function withOpenDatabase(config: Config, work: (db: Db) => Promise<Finding[]>): Promise<Finding[]> {
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres'))) {
    const { ok } = findingsOf('database');
    return [ok('the embedded PostgreSQL is made at the first start, as DATABASE_URL is not set')];
  }
  try {
    return await withDatabase(config, async (url) => {
      const { db, close } = connect(url, { max: 1, deadlineMs: DEADLINE_MS, applicationName: 'carillon doctor' });
      try {
        return await work(db);
      } finally {
        await close();
      }
    });
  } catch (error) {
    return [unusable(error)];
  }
}
