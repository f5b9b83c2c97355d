import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { selectChanged } from './changed-tests.ts';
import { type Report, type Tally, writeReport } from './tap-report.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const ROOT = resolve(import.meta.dirname, '..');
const TAP = fileURLToPath(new URL('run.mjs', import.meta.resolve('tap')));
/** With more failed files than this, a busy machine is not the cause. */
const MAX_REPEATED_FILES = 3;

// pnpm passes the `--` on.
const args = process.argv.slice(2).filter((argument) => argument !== '--');
const words = args.filter((argument) => !argument.startsWith('-'));
const changed = args.find((argument) => /^--changed(=|$)/.test(argument));
const tapOptions = args.filter((argument) => argument.startsWith('-') && argument !== changed);

const files = findTestFiles();
if (files.length === 0) {
  console.error(changed ? 'The change reaches no test.' : `No test file has ${words.join(' or ')} in its path.`);
  console.log('0 passed, 0 failed');
  process.exit(changed ? 0 : 1);
}
if (changed) console.log(`${files.length} test files are within reach of the change.`);

let interrupted = false;
let stopTap = () => {};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    stopTap();
  });
}

const server = await startTestServer();
const { passed, failed, skipped } = await runAll(server).finally(server.stop);
if (interrupted) console.error('Interrupted: not every test ran.');
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 || interrupted ? 1 : 0;

/** All test files; with words, those with one of them in the path; with `--changed[=revision]`, those a change reaches. */
function findTestFiles(): string[] {
  const all = globSync('{packages,apps}/*/test/**/*.test.ts', { cwd: ROOT }).sort();
  const named = all.filter((file) => words.length === 0 || words.some((word) => resolve(ROOT, file).includes(word)));
  return changed ? selectChanged(named, changed.split('=')[1]) : named;
}

/**
 * Runs all files, then once more and alone those that failed: tests that kill processes, race or wait for outages need
 * real time, which a busy machine may not give them. A file that passes alone is reported as flaky.
 */
async function runAll(server: TestServer): Promise<Tally> {
  // One more than there are cores, since many files wait for processes that they have started.
  const first = await runTap(server, files, availableParallelism() + 1);
  const repeated = [...first.failures.keys()];
  if (interrupted || repeated.length === 0 || repeated.length > MAX_REPEATED_FILES) return first;
  console.log(`Running again, one at a time: ${repeated.join(', ')}`);
  const second = await runTap(server, repeated, 1);
  for (const file of repeated) {
    if (!second.failures.has(file))
      console.log(`Flaky: ${file} failed with other tests running and passed on its own.`);
  }
  const replaced = [...first.failures.values()];
  const total = (name: keyof Tally) =>
    first[name] + second[name] - replaced.reduce((sum, tally) => sum + tally[name], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

/** Runs tap in a process group of its own, so that an interrupt ends it together with every test file. */
async function runTap({ url, temp }: TestServer, files: readonly string[], jobs: number): Promise<Report> {
  const tap = spawn(process.execPath, [TAP, '--reporter=tap', `--jobs=${jobs}`, ...tapOptions, ...files], {
    cwd: ROOT,
    detached: true,
    env: {
      ...process.env,
      TEST_DATABASE_URL: url,
      ...(temp && { TMPDIR: temp, NODE_COMPILE_CACHE: join(temp, 'compiled') }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stopTap = () => {
    if (tap.exitCode === null && tap.signalCode === null) process.kill(-(tap.pid as number), 'SIGTERM');
  };
  if (interrupted) stopTap();
  const exited = once(tap, 'exit');
  const report = await writeReport(tap.stdout, (line) => console.log(line));
  const [code, signal] = await exited;
  if (code !== 0 && report.failed === 0) {
    console.error(`tap failed: ${signal ?? `exit code ${code}`}.`);
    report.failed = 1;
  }
  return report;
}
