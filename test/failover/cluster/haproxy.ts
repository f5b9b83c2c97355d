import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findStablePort } from '../../system/ports.ts';
import { startProcess } from '../../system/processes.ts';

export interface ProxiedServer {
  name: string;
  /** Of PostgreSQL. */
  address: string;
  /** Of Patroni's REST API, on the same host. */
  restPort: number;
}

/** Forwards what arrives at `address` to the primary. */
export function buildListenSection(address: string, servers: readonly ProxiedServer[]): string {
  return [
    'listen primary',
    `  bind ${address}`,
    '  mode tcp',
    '  option httpchk GET /primary',
    '  http-check expect status 200',
    '  timeout connect 1s',
    '  timeout check 1s',
    '  timeout client 60s',
    '  timeout server 60s',
    '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers.map((server) => `  server ${server.name} ${server.address} check port ${server.restPort}`),
  ].join('\n');
}

/** Starts HAProxy on loopback, which forwards to the primary. Returns its port. Stops with `stack`. */
export async function startHaproxy(
  stack: AsyncDisposableStack,
  { folder, servers }: { folder: string; servers: readonly ProxiedServer[] },
): Promise<number> {
  const port = await findStablePort();
  const path = join(folder, 'haproxy.cfg');
  writeFileSync(path, `global\n  maxconn 500\n${buildListenSection(`127.0.0.1:${port}`, servers)}\n`);
  await startProcess(stack, {
    name: 'haproxy',
    file: ['haproxy', '-db', '-V', '-f', path],
    folder,
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    ready: /Using \w+\(\) as the polling mechanism/,
  });
  return port;
}
