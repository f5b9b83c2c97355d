import { LOAD_CORE, resolveProgram, startProcess } from '../processes.ts';

/** A prompt as it reached the provider: by the clock in milliseconds, and by the stopwatch that all processes share. */
export interface Arrival {
  prompt: string;
  at: number;
  monotonicMs: number;
}

export interface AiServer {
  /** Ends before `/chat/completions`. */
  url: string;
  /** The prompts that have arrived since it was last asked. */
  takeArrivals(): Promise<Arrival[]>;
  /** How many calls wait for their answer. */
  inFlight(): Promise<number>;
}

export interface AiServerOptions {
  /** How long each answer takes, from and to; the same for the same prompt, and even over many prompts. At once unless told. */
  delayMs?: readonly [number, number];
  /** Remembers what arrives; false unless told. */
  record?: boolean;
}

/** The stopwatch of `monotonicMs`. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A provider as a process of its own, not on the server's core: speaks chat completions, and no more than that. */
export async function startAiServer(
  stack: AsyncDisposableStack,
  folder: string,
  { delayMs = [0, 0], record = false }: AiServerOptions = {},
): Promise<AiServer> {
  const { ready } = await startProcess(stack, {
    name: 'provider',
    file: resolveProgram('environment/servers/ai-server-main.ts'),
    folder,
    core: LOAD_CORE,
    env: { DELAY_MS: delayMs.join('-'), RECORD: String(record) },
    ready: /^ready at (\S+)$/m,
  });
  const ask = async (path: string) => (await fetch(`${ready}${path}`)).json();
  return {
    url: `${ready}/v1`,
    takeArrivals: () => ask('/arrivals') as Promise<Arrival[]>,
    inFlight: async () => ((await ask('/in-flight')) as { inFlight: number }).inFlight,
  };
}
