import { fileURLToPath } from 'node:url';
import { LOAD_CORE, startProcess } from '../processes.ts';

export interface ReceivedCounts {
  count: number;
  firstAt: number;
  lastAt: number;
  agesMs: number[];
}

export interface ReceivedDelivery {
  id: string;
  executionId: number;
}

export interface Receiver {
  url: string;
  /** Returns the counts since the last call. */
  takeCounts(): Promise<ReceivedCounts>;
  /** Returns what arrived below `/recorded` since the last call: deliveries of events about executions. */
  takeDeliveries(): Promise<ReceivedDelivery[]>;
}

/** Starts a webhook receiver as a process on `LOAD_CORE`. */
export async function startReceiver(stack: AsyncDisposableStack, folder: string): Promise<Receiver> {
  const { ready: url } = await startProcess(stack, {
    name: 'receiver',
    file: fileURLToPath(new URL('receiver-main.ts', import.meta.url)),
    folder,
    core: LOAD_CORE,
    ready: /^ready at (\S+)$/m,
  });
  const get = async (path: string) => (await fetch(`${url}${path}`)).json();
  return {
    url,
    takeCounts: () => get('/') as Promise<ReceivedCounts>,
    takeDeliveries: () => get('/recorded') as Promise<ReceivedDelivery[]>,
  };
}
