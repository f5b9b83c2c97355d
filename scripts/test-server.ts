import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../packages/db/src/embedded/postmaster.ts';
import { startEmbeddedPostgres } from '../packages/db/src/embedded/server.ts';
import { ensureTemplate } from '../packages/db/src/test-database.ts';

export interface TestServer {
  /** The PostgreSQL whose migrated template the test files clone. */
  url: string;
  /** The temporary folder of the tests, deleted at the end; undefined where `TEST_DATABASE_URL` names the server. */
  temp?: string;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL for one run of the tests, or uses the one that `TEST_DATABASE_URL` names. */
export async function startTestServer(): Promise<TestServer> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) {
    await ensureTemplate(url);
    return { url, stop: async () => {} };
  }
  await removeAbandoned();
  const dataDir = await mkdtemp(join(tmpdir(), `carillon-tests-${process.pid}-`));
  const temp = join(dataDir, 'tmp');
  await mkdir(temp);
  // PostgreSQL refuses to run as root and uses another account, which has to enter these folders.
  for (const folder of [dataDir, temp]) await chmod(folder, 0o711);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  await ensureTemplate(server.url).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url: server.url, temp, stop };
}

/** Stops and deletes the servers of runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^carillon-tests-(\d+)-/.exec(name) ?? [];
    if (!pid || isAlive(Number(pid))) continue;
    const dataDir = join(tmpdir(), name);
    // Fails for a folder of another user, whose next run deletes it.
    const abandoned = await startEmbeddedPostgres({ dataDir, durable: false }).catch(() => undefined);
    await abandoned?.stop();
    if (abandoned) await rm(dataDir, { recursive: true, force: true });
  }
}
