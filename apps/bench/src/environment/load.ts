import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LOAD_CORE, pinToCore, resolveProgram } from '../../../../test/system/processes.ts';
import { assertNotShuttingDown, closeWith } from '../../../../test/system/shutdown.ts';

export interface LoadRequest {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface LoadOptions {
  /** Several share the connections evenly. */
  url: string | readonly string[];
  connections: number;
  /** The requests of each connection, repeated. Further connections start again with the first list. */
  requests: readonly (readonly LoadRequest[])[];
  until: { seconds: number } | { requests: number };
  /** Requests per second over all connections. Default: as many as possible. */
  rate?: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export interface Load {
  /** Rejects when a response is not a 2xx. */
  send(options: LoadOptions): Promise<LoadResult>;
}

/** Starts a process that sends one load at a time, on `core` or, if it is null, on any. */
export function startLoad(stack: AsyncDisposableStack, core: number | null = LOAD_CORE): Load {
  assertNotShuttingDown();
  const [command = '', ...args] = pinToCore(
    [process.execPath, resolveProgram('bench/src/environment/load-main.ts')],
    core,
  );
  const child = spawn(command, args, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  closeWith(stack, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await exited;
  });
  return {
    async send(options) {
      child.send(options);
      const [answer] = await Promise.race([
        once(child, 'message'),
        exited.then(() => [{ error: 'the process exited' }]),
      ]);
      const { error, ...result } = answer as LoadResult & { error?: string };
      if (error) throw new Error(`The load on ${options.url} failed: ${error}`);
      return result;
    },
  };
}
