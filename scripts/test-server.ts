import { readFileSync, statfsSync } from 'node:fs';
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

const MEMORY_FOLDER = '/dev/shm';
const MIN_FREE_BYTES = 6 * 1024 ** 3;

/** Starts a PostgreSQL for one run of the tests, or uses the one that `TEST_DATABASE_URL` names. */
export async function startTestServer(): Promise<TestServer> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) {
    await ensureTemplate(url);
    return { url, stop: async () => {} };
  }
  await removeAbandoned();
  const dataDir = await mkdtemp(join(chooseFolder(), `carillon-tests-${process.pid}-`));
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

/**
 * In memory, if there is enough: hundreds of databases with 500 files each are created and dropped, which costs some file
 * systems ten times as much as the tests' queries. `TMPDIR` chooses another folder.
 */
function chooseFolder(): string {
  return !process.env.TMPDIR && canUseMemory() ? MEMORY_FOLDER : tmpdir();
}

function canUseMemory(): boolean {
  try {
    const [, options = ''] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
    // Some tests execute files that they write.
    if (!/^rw\b/.test(options) || /\bnoexec\b/.test(options)) return false;
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return Math.min(bavail * bsize, process.availableMemory()) >= MIN_FREE_BYTES;
  } catch {
    // A system without these files.
    return false;
  }
}

/** Stops and deletes the servers of runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const folder of new Set([tmpdir(), MEMORY_FOLDER])) {
    // Not every system has the folder in memory.
    for (const name of await readdir(folder).catch(() => [])) await removeIfAbandoned(folder, name);
  }
}

async function removeIfAbandoned(folder: string, name: string): Promise<void> {
  const [, pid] = /^carillon-tests-(\d+)-/.exec(name) ?? [];
  if (!pid || isAlive(Number(pid))) return;
  const dataDir = join(folder, name);
  // Fails for a folder of another user, whose next run deletes it.
  const abandoned = await startEmbeddedPostgres({ dataDir, durable: false }).catch(() => undefined);
  await abandoned?.stop();
  if (abandoned) await rm(dataDir, { recursive: true, force: true });
}
