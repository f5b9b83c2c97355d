import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Db } from '@carillon/db';
import { startEmbeddedPostgres } from '@carillon/db/embedded';
import { migrateDatabase } from '@carillon/db/migrate';

export interface OwnPostgres {
  url: string;
  /** For the test itself; not to be asked anything while the server is away. */
  db: Db;
  /** Stops all of its processes where they are, as a suspended machine or a dead disk would. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

interface Test {
  teardown(work: () => unknown): unknown;
}

/** A migrated PostgreSQL for one test alone, since what it does to it would hit every other one. */
export async function ownPostgres(t: Test): Promise<OwnPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-own-'));
  // Root's server runs as another user, who has to get in.
  chmodSync(dataDir, 0o711);
  let server = await startEmbeddedPostgres({ dataDir, durable: false });
  const { url } = server;
  await migrateDatabase(url);
  const { db, close } = connect(url, { max: 4, deadlineMs: 30_000 });

  const pidFile = join(dataDir, 'postgres', 'data', 'postmaster.pid');
  const signal = (name: NodeJS.Signals) => {
    const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    for (const pid of [postmaster, ...childrenOf(postmaster)]) send(pid, name);
  };
  const own: OwnPostgres = {
    url,
    db,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    stop: () => server.stop(),
    async start() {
      server = await startEmbeddedPostgres({ dataDir, durable: false });
      if (server.url !== url) throw new Error('The server came back at another address.');
    },
  };
  t.teardown(async () => {
    own.thaw();
    await close();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return own;
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent);
}

function parentOf(pid: number): number | null {
  try {
    // The name of a process, in parentheses, may hold spaces.
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[^)]*$)/);
    return Number(rest.split(' ')[1]);
  } catch {
    return null;
  }
}

function send(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
