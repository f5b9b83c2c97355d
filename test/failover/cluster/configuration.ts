import { join } from 'node:path';

export interface NodeAddress {
  name: string;
  home: string;
  port: number;
  restPort: number;
}

export interface ClusterSettings {
  etcd: EtcdAddress;
  tls: TlsFiles;
  /** The folder of the programs of PostgreSQL. */
  programs: string;
  password: string;
}

/** Paths of PEM files. */
export interface TlsFiles {
  certificate: string;
  key: string;
}

export interface EtcdAddress {
  port: number;
  api: EtcdApi;
}

/** The section of Patroni's configuration: version 2 or 3 of the API of etcd. */
export type EtcdApi = 'etcd' | 'etcd3';

/**
 * Patroni before 3.0.3 overwrites the key of another leader with version 3 of the API: a primary that was frozen takes the
 * leadership back, and what was written since is lost (patroni/patroni#2689).
 */
export function chooseEtcdApi(patroniVersion: string): EtcdApi {
  const [major = 0, minor = 0, patch = 0] = patroniVersion.split('.').map(Number);
  return major > 3 || (major === 3 && (minor > 0 || patch >= 3)) ? 'etcd3' : 'etcd';
}

/** What `docs/operating/failover.md` recommends for any cluster. */
export const RECOMMENDED = {
  bootstrap: {
    dcs: {
      ttl: 20,
      loop_wait: 2,
      retry_timeout: 5,
      primary_start_timeout: 0,
      synchronous_mode: true,
      postgresql: {
        use_pg_rewind: true,
        parameters: { max_connections: 200, wal_keep_size: '512MB', wal_log_hints: 'on' },
      },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
  },
  basebackup: [{ checkpoint: 'fast' }],
} as const;

/** Patroni's configuration of one of several servers on this machine. */
export function buildPatroniConfiguration(
  { name, home, port, restPort }: NodeAddress,
  { etcd, tls, programs, password }: ClusterSettings,
) {
  const { bootstrap, basebackup } = RECOMMENDED;
  const user = (username: string) => ({ username, password });
  return {
    scope: 'carillon',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    [etcd.api]: { host: `127.0.0.1:${etcd.port}` },
    bootstrap,
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(home, 'data'),
      bin_dir: programs,
      pgpass: join(home, 'pgpass'),
      basebackup,
      authentication: { superuser: user('postgres'), replication: user('replicator'), rewind: user('rewind') },
      parameters: {
        ssl: 'on',
        ssl_cert_file: tls.certificate,
        ssl_key_file: tls.key,
        unix_socket_directories: home,
        timezone: 'UTC',
        log_timezone: 'UTC',
      },
      pg_hba: [
        'local all all peer',
        'hostssl all all 127.0.0.1/32 scram-sha-256',
        'hostssl replication replicator 127.0.0.1/32 scram-sha-256',
      ],
    },
    watchdog: { mode: 'off' },
  };
}
