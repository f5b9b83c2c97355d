import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { ensureTemplate } from '@carillon/db/test-database';
import postgres from 'postgres';
import { closeWith } from '../../../../../test/system/shutdown.ts';

export interface DatabaseServer {
  /** A temporary folder for the files of all processes. */
  folder: string;
  version: string;
  /** Creates a migrated, empty database and returns its URL. */
  newDatabase(): Promise<string>;
}

/**
 * Starts a PostgreSQL in a temporary folder, with durable commits unless `quick`. Stops with `stack`, and then copies the log
 * files of all processes to `logs`, if given.
 */
export async function startDatabaseServer(
  stack: AsyncDisposableStack,
  { quick, logs }: { quick: boolean; logs: string | null },
): Promise<DatabaseServer> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  // Started by root, PostgreSQL runs as another user, who needs access.
  chmodSync(folder, 0o711);
  closeWith(stack, async () => {
    if (logs) copyLogs(folder, logs);
    rmSync(folder, { recursive: true, force: true });
  });
  const starting = startEmbeddedPostgres({ dataDir: folder, durable: !quick });
  closeWith(stack, async () => (await starting.catch(() => null))?.stop());
  const { url } = await starting;
  const admin = async (statement: string) => {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    try {
      return await sql.unsafe(statement);
    } finally {
      await sql.end({ timeout: 5 });
    }
  };
  const template = await ensureTemplate(url);
  const [row] = await admin('show server_version');
  return {
    folder,
    version: row?.server_version,
    async newDatabase() {
      const name = `bench_${randomBytes(6).toString('hex')}`;
      await admin(`create database ${name} template ${template}`);
      const address = new URL(url);
      address.pathname = `/${name}`;
      return address.href;
    },
  };
}

function copyLogs(from: string, to: string): void {
  for (const path of globSync('**/*.log', { cwd: from })) cpSync(join(from, path), join(to, path));
}
