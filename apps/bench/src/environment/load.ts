import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LOAD_CORE, pinToCore, resolveProgram } from './processes.ts';
import { assertNotShuttingDown, closeWith } from './shutdown.ts';

export interface LoadRequest {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** A load that stops by itself. */
export interface LoadOptions {
  url: string;
  connections: number;
  /** What each connection asks for, over and over; connections beyond these begin anew with the first. */
  requests: readonly (readonly LoadRequest[])[];
  /** The load ends after so many seconds, or so many requests. */
  until: { seconds: number } | { requests: number };
  /** Requests a second over all connections; as many as are answered unless told. */
  rate?: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/** Sends requests from a process of its own, not on the server's core. */
export interface Load {
  /** Rejects when anything but a 2xx came back. */
  send(options: LoadOptions): Promise<LoadResult>;
}

/** A process that sends one load after the other; several may be sent at once by several of them. */
export function startLoad(stack: AsyncDisposableStack): Load {
  assertNotShuttingDown();
  const [command = '', ...args] = pinToCore([process.execPath, resolveProgram('environment/load-main.ts')], LOAD_CORE);
  const child = spawn(command, args, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  closeWith(stack, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await ended;
  });
  return {
    async send(options) {
      child.send(options);
      const [answer] = await Promise.race([once(child, 'message'), ended.then(() => [{ error: 'it has ended' }])]);
      const { error, ...result } = answer as LoadResult & { error?: string };
      if (error) throw new Error(`The load on ${options.url} failed: ${error}`);
      return result;
    },
  };
}
