import { fileURLToPath } from 'node:url';
import { LOAD_CORE, startProcess } from '../processes.ts';

export interface Arrival {
  prompt: string;
  /** By `Date.now()`. */
  at: number;
  monotonicMs: number;
}

export interface AiServer {
  /** Without `/chat/completions`. */
  url: string;
  /** Returns the prompts since the last call. */
  takeArrivals(): Promise<Arrival[]>;
  /** The number of pending calls. */
  inFlight(): Promise<number>;
}

export interface AiServerOptions {
  /** Minimum and maximum duration of the answers, evenly distributed over the prompts. Default: immediate. */
  delayMs?: readonly [number, number];
  /** Whether to record the prompts. Default: false. */
  record?: boolean;
}

/** A clock that all processes of the machine share, in milliseconds. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Starts a chat completions server as a process on `LOAD_CORE`. */
export async function startAiServer(
  stack: AsyncDisposableStack,
  folder: string,
  { delayMs = [0, 0], record = false }: AiServerOptions = {},
): Promise<AiServer> {
  const { ready } = await startProcess(stack, {
    name: 'ai-server',
    file: fileURLToPath(new URL('ai-server-main.ts', import.meta.url)),
    folder,
    core: LOAD_CORE,
    env: { DELAY_MS: delayMs.join('-'), RECORD: String(record) },
    ready: /^ready at (\S+)$/m,
  });
  const get = async (path: string) => (await fetch(`${ready}${path}`)).json();
  return {
    url: `${ready}/v1`,
    takeArrivals: () => get('/arrivals') as Promise<Arrival[]>,
    inFlight: async () => ((await get('/in-flight')) as { inFlight: number }).inFlight,
  };
}
