import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { selectChanged } from './changed-tests.ts';
import type { Tally } from './tap-report.ts';
import { runAndRepeat } from './test-files.ts';
import { groupTestFiles } from './test-groups.ts';
import { startTestServer, type TestServer } from './test-server.ts';

const ROOT = resolve(import.meta.dirname, '..');
const TEST_FILES = ['{packages,apps}/*/test/**/*.test.ts', 'test/**/*.test.ts'];
/** What `pnpm test:release` runs, and `pnpm test` does not. */
const RELEASE_FOLDERS = ['test/client', 'test/failover', 'test/install'];
/** Making a Debian and installing into it, and the failover of PostgreSQL, take three minutes each on a quiet machine. */
const RELEASE_TIMEOUT_S = 900;

// pnpm passes the `--` on.
const args = process.argv.slice(2).filter((argument) => argument !== '--');
const words = args.filter((argument) => !argument.startsWith('-'));
const changed = args.find((argument) => /^--changed(=|$)/.test(argument));
const release = args.includes('--release');
const unknown = args.find((argument) => argument.startsWith('-') && !/^--(release$|changed(=|$))/.test(argument));
if (unknown) {
  console.error(`The options are --release and --changed[=<revision>], not ${unknown}.`);
  process.exit(1);
}

const files = findTestFiles();
if (files.length === 0) {
  console.error(changed ? 'The change reaches no test.' : `No test file has ${words.join(' or ')} in its path.`);
  console.log('0 passed, 0 failed');
  process.exit(changed ? 0 : 1);
}
if (changed) console.log(`${files.length} test files are within reach of the change.`);

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

const server = await startTestServer();
const { passed, failed, skipped } = await runAll(server).finally(server.stop);
const interrupted = interruption.signal.aborted;
if (interrupted) console.error('Interrupted: not every test ran.');
if (skipped > 0) console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 || interrupted ? 1 : 0;

/**
 * All test files, or those of a release; with words, those with one of them in the path; with `--changed[=revision]`, those a
 * change reaches.
 */
function findTestFiles(): string[] {
  const patterns = release ? RELEASE_FOLDERS.map((folder) => `${folder}/**/*.test.ts`) : TEST_FILES;
  const exclude = release ? [] : ['apps/bench', ...RELEASE_FOLDERS];
  const all = globSync(patterns, { cwd: ROOT, exclude }).sort();
  const named = all.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  return changed ? selectChanged(named, changed.split('=')[1]) : named;
}

async function runAll({ url, temp }: TestServer): Promise<Tally> {
  const env = {
    ...process.env,
    TEST_DATABASE_URL: url,
    ...(temp && {
      TMPDIR: temp,
      NODE_COMPILE_CACHE: join(temp, 'compiled'),
      RESOLUTION_CACHE: join(temp, 'resolutions.json'),
    }),
  };
  // One more than there are cores, since many files wait for processes that they have started.
  const jobs = availableParallelism() + 1;
  const print = (line: string) => console.log(line);
  const options = { jobs, env, print, signal: interruption.signal };
  return await runAndRepeat(groupTestFiles(files), release ? { ...options, timeoutS: RELEASE_TIMEOUT_S } : options);
}
