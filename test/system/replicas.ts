import { setTimeout as delay } from 'node:timers/promises';
import { findStablePort } from './ports.ts';
import { type RunningProcess, resolveProgram, startProcess } from './processes.ts';
import { type Nginx, type NginxOptions, startNginx } from './servers/nginx.ts';

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 35_000;

export interface Replica {
  port: number;
  process(): RunningProcess;
  /** Starts it again on the same port and waits until it is ready. */
  start(): Promise<void>;
  /** Stops it with SIGTERM and starts it again. Throws unless it exits with 0. */
  restart(): Promise<void>;
}

export interface Replicas {
  nginx: Nginx;
  apis: readonly [Replica, Replica];
  schedulers: RunningProcess[];
}

export interface ReplicasOptions extends Pick<NginxOptions, 'folder' | 'tls'> {
  /** The environment of the API processes without `PORT`; `url` is the address of nginx. */
  env(url: string): Record<string, string>;
  /** The `DATABASE_URL` of each API process. Default: that of `env`. */
  databaseUrls?: readonly [string, string];
  /** Default: 1. */
  schedulers?: number;
}

/** Starts two API processes and the schedulers in production mode behind nginx. */
export async function startReplicas(stack: AsyncDisposableStack, options: ReplicasOptions): Promise<Replicas> {
  const { folder, tls, databaseUrls, schedulers: count = 1 } = options;
  const apiPorts = [await findStablePort(), await findStablePort()] as const;
  const nginx = await startNginx(stack, { folder, apiPorts, tls });
  const env: Record<string, string> = {
    NODE_ENV: 'production',
    TRUST_PROXY: '127.0.0.1',
    ...options.env(nginx.url),
  };
  const envOf = (index: 0 | 1) => (databaseUrls ? { ...env, DATABASE_URL: databaseUrls[index] } : env);
  const apis = await Promise.all([
    startReplica(stack, { name: 'api-1', port: apiPorts[0], folder, env: envOf(0) }),
    startReplica(stack, { name: 'api-2', port: apiPorts[1], folder, env: envOf(1) }),
  ]);
  const { CRON_SECRET = '' } = env;
  const schedulers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startProcess(stack, {
        name: `scheduler-${index + 1}`,
        file: resolveProgram('scheduler/src/main.ts'),
        folder,
        env: { NODE_ENV: 'production', CRON_SECRET, API_URL: nginx.schedulerUrl },
        ready: /The scheduler triggers (\S+?)\./,
      }),
    ),
  );
  return { nginx, apis, schedulers };
}

interface ReplicaOptions {
  name: string;
  port: number;
  folder: string;
  env: Record<string, string>;
}

async function startReplica(
  stack: AsyncDisposableStack,
  { name, port, folder, env }: ReplicaOptions,
): Promise<Replica> {
  let current: RunningProcess;
  const start = async () => {
    current = await startProcess(stack, {
      name,
      file: resolveProgram('api/src/main.ts'),
      folder,
      env: { ...env, PORT: String(port) },
      ready: /Server listening at ([^\s"]+)/,
    });
    await waitUntilReady(current.ready);
  };
  await start();
  return {
    port,
    process: () => current,
    start,
    async restart() {
      current.signal('SIGTERM');
      const timeout = delay(STOP_TIMEOUT_MS, 'a timeout', { ref: false });
      const result = await Promise.race([current.exited, timeout]);
      if (result !== 0) throw new Error(`${name} exited with ${result}:\n${current.output().slice(-2000)}`);
      await start();
    },
  };
}

async function waitUntilReady(apiUrl: string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const response = await fetch(`${apiUrl}/api/health/ready`).catch(() => null);
    await response?.body?.cancel();
    if (response?.ok) return;
    if (performance.now() > deadline) throw new Error(`${apiUrl} did not get ready within ${READY_TIMEOUT_MS} ms.`);
    await delay(50);
  }
}
