import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The program that opens an address, and its first arguments. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer'],
};

/**
 * Opens the address in a browser when a person presses o and Enter. Returns false where nobody can: without a terminal, and
 * in the background, where reading from it would stop the process.
 */
export function listenForKey(address: string, signal: AbortSignal): boolean {
  if (!process.stdin.isTTY || !isInForeground()) return false;
  const lines = createInterface({ input: process.stdin, signal });
  lines.on('line', (line) => {
    if (line.trim().toLowerCase() === 'o') open(address);
  });
  process.stdin.on('error', () => lines.close());
  // After Ctrl-Z and bg.
  process.on('SIGCONT', () => {
    if (!isInForeground()) lines.close();
  });
  return true;
}

function open(address: string) {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => console.log(address))
    .unref();
}

/** Whether the group of this process has the terminal. */
function isInForeground(): boolean {
  if (process.platform === 'win32') return true;
  try {
    const [group, foreground] = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], {
      encoding: 'utf8',
    })
      .trim()
      .split(/\s+/);
    return group === foreground;
  } catch {
    return false;
  }
}
