import { LOAD_CORE, resolveProgram, startProcess } from '../processes.ts';

export interface ReceivedCounts {
  count: number;
  firstAt: number;
  lastAt: number;
  agesMs: number[];
}

export interface Receiver {
  url: string;
  /** Returns the counts since the last call. */
  takeCounts(): Promise<ReceivedCounts>;
}

/** Starts a webhook receiver as a process on `LOAD_CORE`. Paths below `/hang` never answer. */
export async function startReceiver(stack: AsyncDisposableStack, folder: string): Promise<Receiver> {
  const { ready: url } = await startProcess(stack, {
    name: 'receiver',
    file: resolveProgram('environment/servers/receiver-main.ts'),
    folder,
    core: LOAD_CORE,
    ready: /^ready at (\S+)$/m,
  });
  return { url, takeCounts: async () => (await fetch(url)).json() as Promise<ReceivedCounts> };
}
