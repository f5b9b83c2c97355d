import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../packages/db/src/embedded/postmaster.ts';
import { startEmbeddedPostgres } from '../packages/db/src/embedded.ts';
import { ensureTemplate } from '../packages/db/src/test-database.ts';
import { type Report, report, type Tally } from './tap-report.ts';

const ROOT = resolve(import.meta.dirname, '..');
const TAP = fileURLToPath(new URL('run.mjs', import.meta.resolve('tap')));

// pnpm hands a `--` on to the script.
const given = process.argv.slice(2).filter((argument) => argument !== '--');
const options = given.filter((argument) => argument.startsWith('-'));
const wanted = given.filter((argument) => !argument.startsWith('-'));
const files = await testFiles();
if (files.length === 0) {
  console.error(`There is no test file${wanted.length > 0 ? ` whose path contains ${wanted.join(' or ')}` : ''}.`);
  console.log('0 passed, 0 failed');
  process.exit(1);
}

let interrupted = false;
let stopTap = () => {};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    interrupted = true;
    stopTap();
  });
}

/** More files than that do not fail because the machine is busy. */
const REPEATED_AT_MOST = 3;

const server = await testServer();
const { passed, failed, skipped } = await runAll(server).finally(server.stop);
if (interrupted) console.error('Interrupted: these are not all.');
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 || interrupted ? 1 : 0;

/** All test files, or those whose path contains one of the words of the command line. */
async function testFiles(): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob('{packages,apps}/*/test/**/*.test.ts', { cwd: ROOT })) found.push(file);
  return found
    .filter((file) => wanted.length === 0 || wanted.some((word) => resolve(ROOT, file).includes(word)))
    .sort();
}

interface TestServer {
  url: string;
  /** Where the tests' own files go; removed at the end whatever they leave there. */
  temp?: string;
  stop(): Promise<void>;
}

/** A PostgreSQL for this run alone, with the template; or the one that `TEST_DATABASE_URL` names. */
async function testServer(): Promise<TestServer> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) {
    await ensureTemplate(url);
    return { url, stop: async () => {} };
  }
  await sweep();
  const dataDir = await mkdtemp(join(tmpdir(), `carillon-tests-${process.pid}-`));
  const temp = join(dataDir, 'tmp');
  await mkdir(temp);
  // Root's servers run as another user, who has to get in.
  for (const folder of [dataDir, temp]) await chmod(folder, 0o711);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  await ensureTemplate(server.url).catch(async (error) => {
    await stop();
    throw error;
  });
  return { url: server.url, temp, stop };
}

/** Stops and removes what a killed run has left behind. */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^carillon-tests-(\d+)-/.exec(name) ?? [];
    if (!pid || isAlive(Number(pid))) continue;
    const dataDir = join(tmpdir(), name);
    // What cannot be opened belongs to another user, who will sweep it.
    const left = await startEmbeddedPostgres({ dataDir, durable: false }).catch(() => undefined);
    await left?.stop();
    if (left) await rm(dataDir, { recursive: true, force: true });
  }
}

/**
 * Runs all files, and then those that failed once more, alone: processes that are killed, outages and races take their
 * real time, and on a machine that is busy with the other files one of them may get too little of it. What fails alone
 * as well has failed; what does not is told, as it is a flaw of the test.
 */
async function runAll(server: TestServer): Promise<Tally> {
  // One more at once than there are cores, since many wait for processes that they have started.
  const first = await runTap(server, files, availableParallelism() + 1);
  const repeated = [...first.failures.keys()];
  if (interrupted || repeated.length === 0 || repeated.length > REPEATED_AT_MOST) return first;
  console.log(`Once more, alone: ${repeated.join(', ')}`);
  const again = await runTap(server, repeated, 1);
  for (const file of repeated) {
    if (!again.failures.has(file)) console.log(`Flaky: ${file} failed beside others, and passes alone.`);
  }
  const before = [...first.failures.values()];
  const total = (name: keyof Tally) => first[name] + again[name] - before.reduce((sum, tally) => sum + tally[name], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

/**
 * In a process group of its own, so that an interrupt ends tap together with every test file, however it came.
 */
async function runTap({ url, temp }: TestServer, files: readonly string[], jobs: number): Promise<Report> {
  const args = ['--reporter=tap', `--jobs=${jobs}`, ...options, ...files];
  const tap = spawn(process.execPath, [TAP, ...args], {
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
  const tally = await report(tap.stdout, (line) => console.log(line));
  const [code, signal] = await exited;
  if (code !== 0 && tally.failed === 0) {
    console.error(`tap itself failed: ${signal ?? `exit code ${code}`}.`);
    tally.failed = 1;
  }
  return tally;
}
