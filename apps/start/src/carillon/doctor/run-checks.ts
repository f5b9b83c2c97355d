import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@carillon/api/context';
import { createProviderList } from '@carillon/api/lib/ai/provider-list';
import type { Providers } from '@carillon/api/lib/ai/providers';
import type { Config } from '@carillon/api/lib/config/config';
import type { Environment } from '@carillon/api/lib/config/environment';
import { checkDeliveries } from '@carillon/api/product/system/checks/deliveries';
import { checkEncryptionKeys } from '@carillon/api/product/system/checks/encryption-keys';
import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';
import { checkMail } from '@carillon/api/product/system/checks/mail';
import { checkModels } from '@carillon/api/product/system/checks/models';
import { checkOldSnapshots } from '@carillon/api/product/system/checks/old-snapshots';
import { checkPartitions } from '@carillon/api/product/system/checks/partitions';
import { checkStorage } from '@carillon/api/product/system/checks/storage';
import { connect, type Db, settings } from '@carillon/db';
import type { Pooling } from '@carillon/db/pool/pooling';
import { withDatabase } from '../command.ts';
import { checkAssistants } from './assistants.ts';
import { checkConfig } from './configuration.ts';
import { checkDataFolder } from './data-folder.ts';
import { checkDatabase } from './database.ts';
import { explainDatabaseError } from './database-errors.ts';
import { checkPooler, findPoolingOf } from './pooler.ts';
import { checkProviders } from './provider.ts';
import { checkProxy } from './proxy.ts';
import { checkReplicas } from './replicas.ts';
import { checkScheduler } from './scheduler.ts';

const STATEMENT_TIMEOUT_MS = 10_000;
/** `defaultModel` of a new installation. */
const DEFAULT_MODEL = 'openai/gpt-5-mini';

export interface CheckOptions {
  /** Number of API processes that share the database. Default: 1. */
  processes?: number;
  now?: () => Date;
  /** The folder of `.env`. Default: the working folder. */
  cwd?: string;
  /** Called before each check. */
  onCheck?: (check: Finding['check'], done: number, total: number) => void;
}

const CHECKS = ['data folder', 'database', 'AI provider', 'mail', 'storage', 'reverse proxy', 'assistants'] as const;

/** Runs each check; one that depends on an invalid setting is skipped with a warning. */
export async function runChecks(env: Environment, texts: DoctorTexts, options: CheckOptions = {}): Promise<Finding[]> {
  const { processes = 1, now = systemClock, cwd = process.cwd(), onCheck = () => {} } = options;
  const { config, replaced, findings } = checkConfig(env, texts, cwd);
  let model = DEFAULT_MODEL;
  let providers: Providers | null = null;
  let models: Finding[] = [];
  const run = async (check: (typeof CHECKS)[number], names: readonly string[], work: () => Promise<Finding[]>) => {
    onCheck(check, CHECKS.indexOf(check), CHECKS.length);
    const invalid = names.filter((name) => replaced.has(name));
    const { warning } = findingsFor(check);
    if (invalid.length > 0) findings.push(warning(texts.notChecked, texts.correctFirst(invalid.join(', '))));
    else findings.push(...(await work()));
  };
  await run('data folder', ['DATA_DIR'], () => checkDataFolder(config.dataDir, env, texts, cwd));
  await run('database', ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_PREPARE', 'DATABASE_POOL'], () =>
    withConnection(config, texts, async (db, pooling) => {
      const { findings, readable } = await checkDatabase(db, { config, processes, now, pooling, texts });
      const found = [
        ...findings,
        ...(await checkOldSnapshots(db, texts)),
        ...(await checkPooler(db, pooling, config, texts)),
        ...(await checkReplicas(db, config, texts)),
      ];
      if (!readable) return found;
      const [row] = await db.select({ model: settings.defaultModel }).from(settings);
      model = row?.model ?? model;
      providers = await createProviderList(db, config)
        .load()
        .catch(() => null);
      models = await checkModels(db, texts).catch(() => []);
      const secrets = replaced.has('ENCRYPTION_KEY') ? [] : await checkEncryptionKeys(db, config.encryptionKeys, texts);
      const deliveries = await checkDeliveries(db, now(), config.retention.deliveriesDays, texts);
      const partitions = await checkPartitions(db, now(), texts);
      return [...found, ...partitions, ...secrets, ...(await checkScheduler(db, now(), texts)), ...deliveries];
    }),
  );
  await run(
    'AI provider',
    ['AI_BASE_URL', 'AI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'AI_TIMEOUT_MS'],
    async () => [...(await checkProviders(config, model, texts, providers)), ...models],
  );
  await run('mail', ['SMTP_URL'], () => checkMail(config.mail, texts));
  const storageVariables = [
    'DATA_DIR',
    'STORAGE_DRIVER',
    'S3_ENDPOINT',
    'S3_REGION',
    'S3_BUCKET',
    'S3_ACCESS_KEY_ID',
    'S3_SECRET_ACCESS_KEY',
  ];
  await run('storage', storageVariables, () => checkStorage(config, texts));
  let isReached = false;
  await run('reverse proxy', ['BASE_URL'], async () => {
    const found = await checkProxy(config, texts);
    isReached = found.some(({ level }) => level === 'ok');
    return found;
  });
  // What keeps this machine from the address was said.
  await run('assistants', [], async () => (isReached ? checkAssistants(config, texts) : []));
  return findings;
}

/** Does not create the embedded database if it does not exist yet. */
async function withConnection(
  config: Config,
  texts: DoctorTexts,
  work: (db: Db, pooling: Pooling) => Promise<Finding[]>,
): Promise<Finding[]> {
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres'))) {
    const { ok } = findingsFor('database');
    return [ok(texts.embeddedCreated)];
  }
  try {
    return await withDatabase({ ...config, databaseDirectUrl: null }, async (url) => {
      const pooling = await findPoolingOf(config, url);
      const { db, close } = connect(url, {
        max: 1,
        prepare: config.databasePrepare,
        deadlineMs: STATEMENT_TIMEOUT_MS,
        applicationName: 'carillon doctor',
      });
      try {
        return await work(db, pooling);
      } finally {
        await close();
      }
    });
  } catch (error) {
    return [explainDatabaseError(error, texts)];
  }
}
