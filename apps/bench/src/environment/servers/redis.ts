import { spawnSync } from 'node:child_process';
import { findFreePort } from '../../../../../test/system/ports.ts';
import { startProcess } from '../../../../../test/system/processes.ts';

const PROGRAM = 'redis-server';

/** Starts a Redis that syncs its append-only file every second. Returns its port, or null without an installed Redis. */
export async function startRedis(stack: AsyncDisposableStack, folder: string): Promise<number | null> {
  if (spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status !== 0) return null;
  const port = await findFreePort();
  await startProcess(stack, {
    name: 'redis',
    file: [
      PROGRAM,
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'yes',
    ],
    folder,
    ready: /(Ready to accept connections)/,
  });
  return port;
}
