import { setTimeout as delay } from 'node:timers/promises';
import { findStablePort } from './ports.ts';
import { type RunningProcess, resolveProgram, startProcess } from './processes.ts';
import { type Nginx, type NginxOptions, startNginx } from './servers/nginx.ts';

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 35_000;

export interface Replica {
  port: number;
  process(): RunningProcess;
  /** Starts it again once it has ended, at the same port, and waits until it says that it is ready. */
  start(): Promise<void>;
  /** Stops it by SIGTERM, waits for its end, and starts it again. Throws unless it has ended with 0. */
  restart(): Promise<void>;
}

export interface Replicas {
  nginx: Nginx;
  apis: readonly [Replica, Replica];
  scheduler: RunningProcess;
}

export interface ReplicasOptions extends Pick<NginxOptions, 'folder' | 'tls'> {
  /** The settings of the API processes without their ports, given where clients reach nginx. */
  env(url: string): Record<string, string>;
}

/** Two API processes and the scheduler in production mode behind nginx, which a proxy of one's own is no stand-in for. */
export async function startReplicas(stack: AsyncDisposableStack, options: ReplicasOptions): Promise<Replicas> {
  const { folder, tls } = options;
  const apiPorts = [await findStablePort(), await findStablePort()] as const;
  const nginx = await startNginx(stack, { folder, apiPorts, tls });
  const env: Record<string, string> = {
    NODE_ENV: 'production',
    TRUST_PROXY: '127.0.0.1',
    ...options.env(nginx.url),
  };
  const apis = await Promise.all([
    startReplica(stack, { name: 'api-1', port: apiPorts[0], folder, env }),
    startReplica(stack, { name: 'api-2', port: apiPorts[1], folder, env }),
  ]);
  const scheduler = await startProcess(stack, {
    name: 'scheduler',
    file: resolveProgram('../../scheduler/src/main.ts'),
    folder,
    env: { NODE_ENV: 'production', CRON_SECRET: env.CRON_SECRET ?? '', API_URL: nginx.schedulerUrl },
    ready: /The scheduler triggers (\S+?)\./,
  });
  return { nginx, apis, scheduler };
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
      file: resolveProgram('../../api/src/main.ts'),
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
      const late = delay(STOP_TIMEOUT_MS, 'not at all', { ref: false });
      const how = await Promise.race([current.exited, late]);
      if (how !== 0) throw new Error(`The ${name} has ended with ${how}:\n${current.output().slice(-2000)}`);
      await start();
    },
  };
}

/** Waits until a process itself says that it is ready, as whoever restarts one after the other has to. */
async function waitUntilReady(apiUrl: string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`${apiUrl}/api/health/ready`).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    if (performance.now() > deadline) throw new Error(`${apiUrl} did not get ready within ${READY_TIMEOUT_MS} ms.`);
    await delay(50);
  }
}
