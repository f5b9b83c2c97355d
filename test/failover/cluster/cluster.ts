import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type ClusterSettings, chooseEtcdApi } from './configuration.ts';
import { startEtcd } from './etcd.ts';
import { startHaproxy } from './haproxy.ts';
import { type ClusterNode, prepareNode } from './node.ts';
import { findPostgresPrograms, readPatroniVersion } from './programs.ts';
import { type CuttableProxy, startCuttableProxy } from './proxy.ts';
import { createCertificate } from './tls.ts';
import { waitUntil } from './wait-until.ts';

const DATABASE = 'carillon';
const QUERY_TIMEOUT_MS = 120_000;
const NAMES = ['db1', 'db2', 'db3'] as const;

export interface ClusterServer extends ClusterNode {
  /** Between Carillon and this server. Replication does not pass it. */
  proxy: CuttableProxy;
}

export interface PostgresCluster {
  /** Lists the servers. */
  listUrl: string;
  /** Of HAProxy. */
  haproxyUrl: string;
  servers: ClusterServer[];
  /** Waits until one server is the primary, one its synchronous standby, and all three run. */
  waitUntilHealthy(): Promise<void>;
  /** The server whose Patroni says that it is the primary, or null. */
  findPrimary(): Promise<ClusterServer | null>;
  /** The server for which commits wait, or null. */
  findSynchronousStandby(): Promise<ClusterServer | null>;
  /** Commits at the primary, which waits for a standby. */
  commit(primary: ClusterServer): Promise<void>;
  /** Hands the primary over to the synchronous standby. */
  switchOver(): Promise<void>;
}

/**
 * Starts three PostgreSQL servers on loopback with synchronous replication, which Patroni supervises, one etcd, and an
 * HAProxy that leads to the primary. Stops with `stack`.
 */
export async function startCluster(stack: AsyncDisposableStack, parent: string): Promise<PostgresCluster> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('PostgreSQL is not installed.');
  const folder = join(parent, 'cluster');
  mkdirSync(folder, { mode: 0o711 });
  const etcd = await startEtcd(stack, { folder, api: chooseEtcdApi(readPatroniVersion()) });
  const tls = createCertificate(folder);
  const settings: ClusterSettings = { etcd, tls, programs, password: randomBytes(16).toString('hex') };
  const servers: ClusterServer[] = [];
  for (const name of NAMES) {
    const node = await prepareNode(stack, { folder, name, settings });
    servers.push({ ...node, proxy: await startCuttableProxy(stack, node.port) });
  }
  const [first, ...others] = servers as [ClusterServer, ...ClusterServer[]];
  await first.start();
  const { password } = settings;
  await query(first, { password, database: 'postgres', statement: `create database ${DATABASE}` });
  await Promise.all(others.map((server) => server.start()));
  const haproxyPort = await startHaproxy(stack, {
    folder,
    servers: servers.map(({ name, proxy, restPort }) => ({ name, address: `127.0.0.1:${proxy.port}`, restPort })),
  });
  const toUrl = (hosts: string) => `postgres://postgres:${password}@${hosts}/${DATABASE}?sslmode=require`;

  /** By a check of Patroni's REST API. */
  async function find(role: 'primary' | 'synchronous'): Promise<ClusterServer | null> {
    const answers = await Promise.all(servers.map((server) => hasRole(server, role)));
    return servers.find((_, index) => answers[index]) ?? null;
  }
  const findPrimary = () => find('primary');
  async function isHealthy(): Promise<boolean> {
    for (const server of servers) {
      const answer = await askPatroni(server, '/cluster');
      const { members } = ((await answer?.json().catch(() => null)) ?? { members: [] }) as { members: Member[] };
      const roles = members.filter(({ state }) => /^(running|streaming)$/.test(state)).map(({ role }) => role);
      if (roles.sort().join() !== 'leader,replica,sync_standby') return false;
    }
    return (await findPrimary()) !== null;
  }
  const cluster: PostgresCluster = {
    listUrl: toUrl(servers.map(({ proxy }) => `127.0.0.1:${proxy.port}`).join(',')),
    haproxyUrl: toUrl(`127.0.0.1:${haproxyPort}`),
    servers,
    findPrimary,
    findSynchronousStandby: () => find('synchronous'),
    waitUntilHealthy: () => waitUntil(isHealthy, 'the cluster is not healthy'),
    commit: (primary) =>
      query(primary, { password, database: DATABASE, statement: "select pg_logical_emit_message(true, 'drill', '')" }),
    async switchOver() {
      const primary = await findPrimary();
      if (!primary) throw new Error('There is no primary.');
      const answer = await askPatroni(primary, '/switchover', { leader: primary.name });
      if (answer?.status !== 200) throw new Error(`Patroni refused the switchover: ${await answer?.text()}`);
    },
  };
  await cluster.waitUntilHealthy();
  return cluster;
}

interface Member {
  role: string;
  state: string;
}

async function hasRole(server: ClusterNode, role: string): Promise<boolean> {
  const answer = await askPatroni(server, `/${role}`);
  await answer?.body?.cancel().catch(() => {});
  return answer?.status === 200;
}

async function askPatroni({ restPort }: ClusterNode, path: string, body?: object): Promise<Response | null> {
  return fetch(`http://127.0.0.1:${restPort}${path}`, {
    signal: AbortSignal.timeout(body ? 60_000 : 1000),
    ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => null);
}

interface Query {
  password: string;
  database: string;
  statement: string;
}

/** Not by way of the proxy. */
async function query({ port }: ClusterNode, { password, database, statement }: Query): Promise<void> {
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/${database}?sslmode=require`;
  const { db, close } = connect(url, { max: 1, deadlineMs: QUERY_TIMEOUT_MS });
  await db.execute(sql.raw(statement)).finally(close);
}
