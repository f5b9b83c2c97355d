import { LOAD_CORE, resolveProgram, startProcess } from '../processes.ts';

/** What came since it was last asked for: how many, when the first and the last, and how old the events were. */
export interface ReceivedCounts {
  count: number;
  firstAt: number;
  lastAt: number;
  agesMs: number[];
}

export interface Receiver {
  url: string;
  takeCounts(): Promise<ReceivedCounts>;
}

/** Receivers of webhooks as a process of its own, not on the server's core; below `/hang` they never answer. */
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
