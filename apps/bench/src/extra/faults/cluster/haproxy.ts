import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findStablePort } from '../../../environment/ports.ts';
import { startProcess } from '../../../environment/processes.ts';

/** Starts HAProxy on loopback, which forwards to the primary. Returns its port. Stops with `stack`. */
export async function startHaproxy(
  stack: AsyncDisposableStack,
  { folder, servers }: { folder: string; servers: readonly { name: string; port: number; restPort: number }[] },
): Promise<number> {
  const port = await findStablePort();
  const path = join(folder, 'haproxy.cfg');
  const lines = [
    'global',
    '  maxconn 500',
    'defaults',
    '  mode tcp',
    '  timeout connect 1s',
    '  timeout check 1s',
    // The timeouts of Carillon are shorter, and an idle LISTEN is checked every 15 s.
    '  timeout client 60s',
    '  timeout server 60s',
    'listen primary',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk GET /primary',
    '  http-check expect status 200',
    '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers.map((server) => `  server ${server.name} 127.0.0.1:${server.port} check port ${server.restPort}`),
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  await startProcess(stack, {
    name: 'haproxy',
    file: ['haproxy', '-db', '-V', '-f', path],
    folder,
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    ready: /(Loading success|New worker|Proxy primary started)/,
  });
  return port;
}
