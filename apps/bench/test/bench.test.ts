import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BENCHMARKS } from '../src/benchmarks.ts';

// Starts about forty programs.
t.setTimeout(600_000);

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const bench = (...args: string[]) =>
  spawnSync(process.execPath, [...process.execArgv, MAIN, ...args], { encoding: 'utf8' });

t.test('The benchmarks are listed, and an unknown name is refused', async (t) => {
  const listed = bench('--help');
  t.equal(listed.status, 0);
  for (const name of Object.keys(BENCHMARKS)) t.match(listed.stdout, new RegExp(`^ {2}${name} +\\S`, 'm'));
  const unknown = bench('nothing');
  t.equal(unknown.status, 1);
  t.match(unknown.stderr, 'No benchmark is named "nothing".');
  t.equal(unknown.stdout, listed.stdout);
});

t.test('An invalid option is refused', async (t) => {
  const refused = bench('--rounds', 'many');
  t.equal(refused.status, 1);
  t.match(refused.stderr, '--rounds is "many", not a whole number from 1 to 100.');
});

t.test('A benchmark is measured with its baselines', async (t) => {
  const { status, stdout, stderr } = bench('--quick', 'executions');
  t.equal(status, 0, stderr);
  t.match(stdout, /^executions: [\s\S]*pg-boss/m);
  t.notMatch(stdout, /NaN/);
});

// Runs only with BENCH_ALL=1, because it takes minutes.
t.test('Each benchmark is measured and reported', { skip: !process.env.BENCH_ALL }, async (t) => {
  const report = join(t.testdir({}), 'RESULTS.md');
  const { status, stdout, stderr } = bench('--quick', '--report', report);
  t.equal(status, 0, stderr);
  const text = readFileSync(report, 'utf8');
  t.notMatch(text, 'Not measured:');
  t.match(text, /A quick run/);
  for (const name of Object.keys(BENCHMARKS)) {
    t.match(stdout, new RegExp(`^${name}: `, 'm'));
    t.match(text, new RegExp(`^## ${name}\n\n.+\n\n\\| figure \\|.+\n\\|---.+\n\\| .*\\d.* \\|$`, 'm'));
  }
  // No figure is missing.
  t.notMatch(text, /NaN|\| – [a-z]/);
});

t.test(
  'An interrupted run leaves no process and no report behind',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const report = join(t.testdir({}), 'RESULTS.md');
    const run = spawn(process.execPath, [...process.execArgv, MAIN, '--quick', '--report', report], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = once(run, 'exit');
    let folder = '';
    while (folder === '' || listProcesses(folder).length < 3) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      folder = findFolder(run.pid as number);
    }
    run.kill('SIGINT');
    t.strictSame(await exited, [130, null]);
    t.strictSame(listProcesses(folder), []);
    t.notOk(existsSync(report));
    t.notOk(existsSync(folder));
  },
);

/** The working folder of the child processes, or an empty string without any. */
function findFolder(pid: number): string {
  for (const child of pids()) {
    const cwd = readLink(child, 'cwd');
    if (cwd?.includes('carillon-bench-') && readParent(child) === pid) return cwd;
  }
  return '';
}

const listProcesses = (folder: string) => pids().filter((pid) => readLink(pid, 'cwd')?.startsWith(folder));
const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));

function readLink(pid: string, name: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return undefined;
  }
}

function readParent(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return Number.NaN;
  }
}
