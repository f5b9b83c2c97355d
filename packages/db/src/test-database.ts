import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { connect, type Db } from './client.ts';
import { isAlive } from './embedded/postmaster.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/server.ts';
import { migrateDatabase } from './migrate.ts';

interface TestDatabase {
  url: string;
  db: Db;
  close(): Promise<void>;
}

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

/** Creates an empty database with the newest schema, dropped at the end of `t` or by `close`. */
export async function testDatabase(t?: { teardown(work: () => Promise<void>): unknown }): Promise<TestDatabase> {
  const { url: serverUrl, stop } = await startServer();
  const admin = postgres(serverUrl, { max: 1, onnotice: () => {} });
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  try {
    const template = await ensureTemplate(serverUrl);
    // Copies files instead of logging each block: a third of the time, and no write-ahead log.
    await admin.unsafe(`create database ${name} template ${template} strategy file_copy`);
  } catch (error) {
    await admin.end({ timeout: 0 });
    await stop();
    throw error;
  }
  const url = withDatabaseName(serverUrl, name);
  // Tests fill tables with single statements on busy machines.
  const { db, close: disconnect } = connect(url, { deadlineMs: 30_000 });
  const dropAndClose = async () => {
    await disconnect();
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end({ timeout: 5 });
    await stop();
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= dropAndClose();
    return closing;
  };
  t?.teardown(close);
  return { url, db, close };
}

const templates = new Map<string, Promise<string>>();

/** Returns the name of a database with the newest schema, which it creates on a server that has none. */
export function ensureTemplate(url: string): Promise<string> {
  const found = templates.get(url) ?? createTemplate(url);
  templates.set(url, found);
  found.catch(() => templates.delete(url));
  return found;
}

async function createTemplate(url: string): Promise<string> {
  const template = `carillon_template_${hashMigrations()}`;
  const admin = postgres(withDatabaseName(url, 'postgres'), { max: 1, onnotice: () => {} });
  try {
    // Test files that run in parallel create one template. The lock belongs to the connection.
    await admin`select pg_advisory_lock(${ADVISORY_LOCKS.createTestTemplate})`;
    const [existing] = await admin`select from pg_database where datname = ${template}`;
    if (existing) return template;
    await admin.unsafe('drop database if exists carillon_template_draft with (force)');
    await admin.unsafe('create database carillon_template_draft');
    await migrateDatabase(withDatabaseName(url, 'carillon_template_draft'));
    // A template with a connection cannot be cloned.
    await admin.unsafe('alter database carillon_template_draft allow_connections false');
    await admin.unsafe(`alter database carillon_template_draft rename to ${template}`);
    return template;
  } finally {
    await admin.end({ timeout: 5 });
  }
}

/** Changes with every migration, so that a server that survives a test run has no outdated template. */
function hashMigrations(): string {
  const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'));
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(file).update(readFileSync(join(MIGRATIONS, file)));
  return hash.digest('hex').slice(0, 16);
}

async function startServer(): Promise<EmbeddedPostgres> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: async () => {} };
  const dataDir = join(tmpdir(), `carillon-test-${process.getuid?.()}`);
  const embedded = await startEmbeddedPostgres({ dataDir, durable: false });
  await dropStaleDatabases(embedded.url);
  return embedded;
}

async function dropStaleDatabases(url: string): Promise<void> {
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  for (const { datname } of await admin`select datname from pg_database where datname like 'test\\_%'`) {
    const pid = Number(datname.split('_')[1]);
    if (pid !== process.pid && !isAlive(pid)) await admin.unsafe(`drop database if exists ${datname} with (force)`);
  }
  await admin.end({ timeout: 5 });
}

function withDatabaseName(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
