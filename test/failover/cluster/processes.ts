import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const MAX_WAIT_MS = 10_000;

/** The ids of the processes that work in `folder` or below. On Linux only. */
function listProcessesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const workingFolder = readWorkingFolder(pid);
      return workingFolder === folder || workingFolder.startsWith(`${folder}/`);
    });
}

/** Sends a signal to the processes that work in `folder`, and to those that they start meanwhile. */
export function signalProcessesIn(folder: string, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  const signalled = new Set<number>();
  for (;;) {
    const found = listProcessesIn(folder).filter((pid) => !signalled.has(pid));
    if (found.length === 0) return;
    for (const pid of found) {
      signalled.add(pid);
      sendSignal(pid, name);
    }
  }
}

/** Kills the processes that work in `folder` and waits until they are gone. */
export async function endProcessesIn(folder: string): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let left = listProcessesIn(folder); left.length > 0; left = listProcessesIn(folder)) {
    if (performance.now() > deadline) throw new Error(`Processes do not end: ${left.join(', ')}.`);
    signalProcessesIn(folder, 'SIGKILL');
    await delay(10);
  }
}

/** Empty for a process that has ended. */
function readWorkingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
