import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const POLL_MS = 1000;
/** Also as `node …/npm-cli.js`. */
const RUNNER = /^(npx|npm|pnpm)(?:-cli)?(?:\.[cm]?js)?$/;
const SHELLS = ['sh', 'bash', 'dash', 'ash', 'zsh'];

interface Process {
  parent: number;
  state: string;
  /** The words of its command line. */
  words: string[];
}

/**
 * Calls `onEnd` once one of the processes ends through which `npx pnpm start` runs this one: npx, pnpm and their shells. A
 * signal to one of them alone does not reach this process.
 */
export function watchRunners(onEnd: () => void): void {
  const runners = listRunners();
  if (runners.length === 0) return;
  const timer = setInterval(() => {
    if (runners.every(isRunning)) return;
    clearInterval(timer);
    onEnd();
  }, POLL_MS);
  timer.unref();
}

/** From the nearest up to npx, or else to pnpm. A shell above them may end before, as after `npx pnpm start &`. */
function listRunners(): number[] {
  const pids: number[] = [];
  let runners: number[] = [];
  for (let pid = process.ppid; pid > 1; ) {
    const found = readProcess(pid);
    if (found === null) break;
    const [program = '', argument = ''] = found.words;
    pids.push(pid);
    const [, runner] = [program, argument].map((word) => RUNNER.exec(basename(word))).find((match) => match) ?? [];
    if (runner) runners = [...pids];
    else if (!SHELLS.includes(basename(program)) || argument !== '-c') break;
    // The process that has started npx may end.
    if (runner && runner !== 'pnpm') break;
    pid = found.parent;
  }
  return runners;
}

/** One that has ended stays a zombie until its parent asks for its status. */
function isRunning(pid: number): boolean {
  const found = readProcess(pid);
  return found !== null && found.state !== 'Z';
}

/** Null for a process that does not exist. */
function readProcess(pid: number): Process | null {
  try {
    if (process.platform !== 'linux') {
      const line = execFileSync('ps', ['-ww', '-o', 'ppid=,state=,command=', '-p', String(pid)], { encoding: 'utf8' });
      const [parent, state = '', ...words] = line.trim().split(/\s+/);
      return { parent: Number(parent), state: state.slice(0, 1), words };
    }
    // The name of the program, in brackets, may contain anything.
    const [state = '', parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0 ]/);
    return { parent: Number(parent), state, words };
  } catch {
    return null;
  }
}
