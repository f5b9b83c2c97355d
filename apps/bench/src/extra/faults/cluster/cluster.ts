import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { findStablePort } from '../../../environment/ports.ts';
import { startProcess } from '../../../environment/processes.ts';
import { startHaproxy } from './haproxy.ts';
import { type ClusterNode, findPostgresPrograms, prepareNode, waitUntil } from './node.ts';
import { type CuttableProxy, startCuttableProxy } from './proxy.ts';

const DATABASE = 'carillon';
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
  /** Hands the primary over to the synchronous standby. */
  switchOver(): Promise<void>;
}

/** Debian's names of the programs that are not installed. */
export function listMissingPackages(): string[] {
  const PATH = `${process.env.PATH}:/usr/sbin`;
  const isMissing = (program: string) => spawnSync('which', [program], { env: { PATH } }).status !== 0;
  const packages = { etcd: 'etcd-server', patroni: 'patroni', haproxy: 'haproxy' };
  const missing = Object.entries(packages).flatMap(([program, name]) => (isMissing(program) ? [name] : []));
  return findPostgresPrograms() === null ? [...missing, 'postgresql'] : missing;
}

/**
 * Starts three PostgreSQL servers on loopback with synchronous replication, which Patroni supervises, one etcd, and an
 * HAProxy that leads to the primary. Stops with `stack`.
 */
export async function startCluster(stack: AsyncDisposableStack, parent: string): Promise<PostgresCluster> {
  const folder = join(parent, 'cluster');
  mkdirSync(folder, { mode: 0o711 });
  const etcdPort = await startEtcd(stack, folder);
  const password = randomBytes(16).toString('hex');
  const servers: ClusterServer[] = [];
  for (const name of NAMES) {
    const node = await prepareNode(stack, { folder, name, etcdPort, password });
    servers.push({ ...node, proxy: await startCuttableProxy(stack, node.port) });
  }
  const [first, ...others] = servers as [ClusterServer, ...ClusterServer[]];
  await first.start();
  await createDatabase(first, password);
  await Promise.all(others.map((server) => server.start()));
  const haproxyPort = await startHaproxy(stack, {
    folder,
    servers: servers.map(({ name, proxy, restPort }) => ({ name, port: proxy.port, restPort })),
  });
  const toUrl = (hosts: string) => `postgres://postgres:${password}@${hosts}/${DATABASE}`;

  async function findPrimary(): Promise<ClusterServer | null> {
    const answers = await Promise.all(servers.map((server) => askPatroni(server, '/primary')));
    return servers.find((_, index) => answers[index]?.status === 200) ?? null;
  }
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
    waitUntilHealthy: () => waitUntil(isHealthy, 'the cluster is not healthy'),
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

async function askPatroni({ restPort }: ClusterNode, path: string, body?: object): Promise<Response | null> {
  return fetch(`http://127.0.0.1:${restPort}${path}`, {
    signal: AbortSignal.timeout(body ? 60_000 : 1000),
    ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => null);
}

async function startEtcd(stack: AsyncDisposableStack, folder: string): Promise<number> {
  const [clientPort, peerPort] = [await findStablePort(), await findStablePort()];
  const [client, peer] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`];
  await startProcess(stack, {
    name: 'etcd',
    file: [
      'etcd',
      ...['--name', 'etcd', '--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `etcd=${peer}`],
    ],
    folder,
    ready: /(ready to serve client requests|serving insecure client requests)/,
  });
  return clientPort;
}

async function createDatabase({ port }: ClusterNode, password: string): Promise<void> {
  const sql = postgres({ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres', max: 1 });
  try {
    await sql.unsafe(`create database ${DATABASE}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
