import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

const RELEASE = fileURLToPath(new URL('./release-main.ts', import.meta.url));

/**
 * Has the server stopped if this process is killed and no other one uses it. A shell in its own session waits for the end
 * of a pipe, which takes less memory than a second Node.js. Returns a function that ends the waiting.
 */
export function releaseWhenKilled(dataDir: string): () => void {
  const watch = spawn('/bin/sh', ['-c', 'read -r line || exec "$@"', 'sh', process.execPath, RELEASE, dataDir], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell, the server of a killed process goes on, and the next start uses it.
  watch.on('error', () => {}).unref();
  const pipe = watch.stdin as Socket;
  pipe.on('error', () => {}).unref();
  return () => pipe.end('stopped\n');
}
