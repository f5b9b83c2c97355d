import { join } from 'node:path';
import { findStablePort } from '../../system/ports.ts';
import { startProcess } from '../../system/processes.ts';
import type { EtcdAddress, EtcdApi } from './configuration.ts';

/** Starts one etcd on loopback. Stops with `stack`. */
export async function startEtcd(
  stack: AsyncDisposableStack,
  { folder, api }: { folder: string; api: EtcdApi },
): Promise<EtcdAddress> {
  const [clientPort, peerPort] = [await findStablePort(), await findStablePort()];
  const [client, peer] = [`http://127.0.0.1:${clientPort}`, `http://127.0.0.1:${peerPort}`];
  await startProcess(stack, {
    name: 'etcd',
    file: [
      'etcd',
      ...['--name', 'etcd', '--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `etcd=${peer}`],
      ...(api === 'etcd' ? ['--enable-v2'] : []),
    ],
    folder,
    ready: /(ready to serve client requests|serving insecure client requests)/,
  });
  return { port: clientPort, api };
}
