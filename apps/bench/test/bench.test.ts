import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BENCHMARKS, isInReport } from '../src/benchmarks.ts';

// Some forty programs are started; on two cores that are busy with other tests it takes minutes.
t.setTimeout(600_000);

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const bench = (...args: string[]) => spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });

t.test('the measurements are listed, and an unknown name is refused', async (t) => {
  const listed = bench('--help');
  t.equal(listed.status, 0);
  for (const name of Object.keys(BENCHMARKS)) t.match(listed.stdout, new RegExp(`^ {2}${name} +\\S`, 'm'));
  const unknown = bench('nothing');
  t.equal(unknown.status, 1);
  t.match(unknown.stderr, 'There is no measurement "nothing".');
  t.equal(unknown.stdout, listed.stdout);
});

t.test('an option that cannot be used is refused', async (t) => {
  const refused = bench('--rounds', 'many');
  t.equal(refused.status, 1);
  t.match(refused.stderr, '--rounds is "many", but takes a whole number from 1 to 100.');
});

t.test('a row is measured beside its baselines', async (t) => {
  const { status, stdout, stderr } = bench('--quick', 'executions', 'tick');
  t.equal(status, 0, stderr);
  t.match(stdout, /^executions: [\s\S]*pg-boss[\s\S]*^tick: /m);
  t.notMatch(stdout, /NaN/);
});

// By hand: BENCH_ALL=1. All programs of all rows take more of the processor than most other tests together.
t.test('each row is measured, and all of them are in the report', { skip: !process.env.BENCH_ALL }, async (t) => {
  const report = join(t.testdir({}), 'RESULTS.md');
  const { status, stdout, stderr } = bench('--quick', '--report', report);
  t.equal(status, 0, stderr);
  const text = readFileSync(report, 'utf8');
  t.notMatch(text, 'Not measured:');
  t.match(text, /A quick run/);
  for (const name of Object.keys(BENCHMARKS).filter(isInReport)) {
    t.match(stdout, new RegExp(`^${name}: `, 'm'));
    t.match(text, new RegExp(`^## ${name}\n\n.+\n\n\\| figure \\|.+\n\\|---.+\n\\| .*\\d.* \\|$`, 'm'));
  }
  // Without a unit there is no figure: none of them is missing or not a number.
  t.notMatch(text, /NaN|\| – [a-z]/);
});

t.test(
  'an interrupted run leaves no process and no report behind',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const report = join(t.testdir({}), 'RESULTS.md');
    const run = spawn(process.execPath, [MAIN, '--quick', '--report', report], { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(run, 'exit');
    let folder = '';
    // Until the API and what is beside it run.
    while (folder === '' || processesIn(folder).length < 3) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      folder = folderOf(run.pid as number);
    }
    run.kill('SIGINT');
    t.strictSame(await ended, [130, null]);
    t.strictSame(processesIn(folder), []);
    t.notOk(existsSync(report));
    t.notOk(existsSync(folder));
  },
);

/** The folder in which the children of a run work; empty while it has none. */
function folderOf(pid: number): string {
  for (const child of pids()) {
    const cwd = linkOf(child, 'cwd');
    if (cwd?.includes('carillon-bench-') && parentOf(child) === pid) return cwd;
  }
  return '';
}

const processesIn = (folder: string) => pids().filter((pid) => linkOf(pid, 'cwd')?.startsWith(folder));
const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function linkOf(pid: string, name: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return undefined;
  }
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}
