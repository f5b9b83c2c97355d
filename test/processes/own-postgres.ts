import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Db } from '@carillon/db';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { migrateDatabase } from '@carillon/db/migrate';

export interface OwnPostgres {
  url: string;
  /** For the test itself; hangs while the server is frozen or stopped. */
  db: Db;
  /** Sends SIGSTOP to all of its processes, like a suspended machine or a dead disk. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

interface Test {
  teardown(work: () => unknown): unknown;
}

/** Starts a migrated PostgreSQL for one test alone. */
export async function ownPostgres(t: Test): Promise<OwnPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-own-'));
  // PostgreSQL started by root runs as another user, which has to enter the folder.
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
    // The process name, in parentheses, may contain spaces.
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
