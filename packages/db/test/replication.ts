import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Db, queryRows } from '@carillon/db';
import type { EmbeddedPostgres } from '@carillon/db/embedded/server';
import { migrateDatabase } from '@carillon/db/migrate';
import { sql } from 'drizzle-orm';
import type { Test } from 'tap';
import { preparedFolder, serverPid, start } from './servers.ts';

export interface Standby {
  url: string;
  db: Db;
  /** Stops replay: what the primary commits from now on is not seen. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Waits until it has replayed all that the primary has committed. */
  catchUp(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
}

export interface Replication {
  url: string;
  db: Db;
  standby: Standby;
}

/** Starts a primary with the newest schema, and a standby that streams from it. */
export async function startReplication(t: Test): Promise<Replication> {
  const primary = await start(t, await preparedFolder(t, 'primary'));
  await migrateDatabase(primary.url);
  const db = openDb(t, primary.url);
  return { url: primary.url, db, standby: await startStandby(t, primary.url, db) };
}

/** Both are copies of one cluster that was shut down, which is a base backup. */
export async function startStandby(t: Test, primaryUrl: string, primary: Db, settings = ''): Promise<Standby> {
  const dataDir = await preparedFolder(t, 'standby');
  const data = join(dataDir, 'postgres/data');
  const { username, password, hostname, port } = new URL(primaryUrl);
  const source = `user=${username} password=${password} host=${hostname} port=${port}`;
  writeFileSync(join(data, 'standby.signal'), '');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `\nprimary_conninfo = '${source}'\nwal_retrieve_retry_interval = '100ms'\n${settings}\n`,
  );
  let server: EmbeddedPostgres = await start(t, dataDir);
  const { url } = server;
  const db = openDb(t, url);
  const standby: Standby = {
    url,
    db,
    async pause() {
      await db.execute(sql`select pg_wal_replay_pause()`);
      await waitFor(db, sql`pg_get_wal_replay_pause_state() = 'paused'`);
    },
    async resume() {
      await db.execute(sql`select pg_wal_replay_resume()`);
    },
    async catchUp() {
      const [end] = await queryRows<{ at: string }>(primary, sql`select pg_current_wal_flush_lsn() as at`);
      await waitFor(db, sql`pg_last_wal_replay_lsn() >= ${end?.at ?? ''}::pg_lsn`);
    },
    stop: () => server.stop(),
    async start() {
      server = await start(t, dataDir);
    },
    signal: (name) => void process.kill(serverPid(dataDir) as number, name),
  };
  await standby.catchUp();
  return standby;
}

function openDb(t: Test, url: string): Db {
  const { db, close } = connect(url, { max: 4, deadlineMs: 30_000 });
  t.teardown(close);
  return db;
}

async function waitFor(db: Db, condition: ReturnType<typeof sql>): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const [row] = await queryRows<{ holds: boolean }>(db, sql`select ${condition} as holds`);
    if (row?.holds) return;
    if (performance.now() > deadline) throw new Error('The condition was not met within 30 s.');
    await delay(5);
  }
}
