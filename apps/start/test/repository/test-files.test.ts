import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { runFiles } from '../../../../scripts/test-files.ts';

const PASS = `t.test('passes', async (t) => t.ok(true));`;

/** Runs test files with these texts. */
async function runTexts(t: Test, texts: Record<string, string>, signal = new AbortController().signal) {
  const names = Object.keys(texts).map((name) => `${name.replaceAll(' ', '-')}.test.ts`);
  const files = Object.values(texts).map((text) => `import t from 'tap';\n${text}`);
  const folder = t.testdir(Object.fromEntries(names.map((name, index) => [name, files[index] ?? ''])));
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const paths = names.map((name) => join(folder, name));
  const report = await runFiles(paths, { jobs: 2, env: { PATH: process.env.PATH }, print, signal });
  return { ...report, paths, output: lines.join('\n') };
}

t.test('Each test is counted as passed, failed or skipped, and a failure is printed with its place', async (t) => {
  const text = `${PASS}
    t.test('outer', async (t) => { await t.test('inner', async (t) => t.equal(1, 2)); });
    t.test('skipped', { skip: 'a reason' }, async () => {});`;
  const report = await runTexts(t, { mixed: text, passing: PASS });
  t.match(report, { passed: 2, skipped: 1, failures: new Map([[report.paths[0], { failed: 1 }]]) });
  t.match(report.output, /mixed\.test\.ts > outer > inner > should be equal\n {4}at .*mixed\.test\.ts:3\n/);
  t.match(report.output, /^✗ .*mixed\.test\.ts \(1 passed, 1 failed, 1 skipped, \d+ ms\): exit code 1$/m);
  t.match(report.output, /^✓ .*passing\.test\.ts \(1 passed, \d+ ms\)$/m);
});

t.test('A file that does not end as it should has failed', async (t) => {
  const texts = {
    'imports what is not there': `await import('./no-such.ts');`,
    'exits inside a test': `${PASS} t.test('exits', async (t) => { t.ok(true); process.exit(0); });`,
    'is killed': `${PASS} t.test('dies', async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); });`,
    'throws after its tests': `${PASS} process.on('exit', () => { throw new Error('late'); });`,
    'waits for nothing': `${PASS} t.test('waits', () => new Promise(() => {}));`,
    'exits with an error': `${PASS} process.on('exit', () => { process.exitCode = 3; });`,
    'tests nothing': 'void t;',
  };
  const { failures, paths, passed, output } = await runTexts(t, texts);
  for (const [index, what] of Object.keys(texts).entries()) {
    t.match(failures.get(paths[index] as string), { failed: 1 }, `a file that ${what}`);
  }
  t.equal(passed, Object.values(texts).filter((text) => text.startsWith(PASS)).length);
  t.match(output, /Error: late/, 'what a file wrote');
});

t.test('An interrupt ends a file together with the processes that it has started', async (t) => {
  // The process that it starts holds the output open.
  const text = `
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    spawn('sleep', ['600'], { stdio: 'inherit' });
    writeFileSync(import.meta.dirname + '/started', '');
    t.test('waits', () => new Promise(() => setInterval(() => {}, 1000)));`;
  const interruption = new AbortController();
  const running = runTexts(t, { waiting: text }, interruption.signal);
  while (!existsSync(join(t.testdirName, 'started'))) await sleep(20);
  interruption.abort();
  const { output, paths, failures } = await running;
  t.match(output, /waiting\.test\.ts .*: killed by SIGTERM$/m);
  t.match(failures.get(paths[0] as string), { failed: 1 });
});
