import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Tally } from '../../scripts/tap-report.ts';
import { runAndRepeat, runFiles } from '../../scripts/test-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PASS = `t.test('passes', async (t) => t.ok(true));`;

interface Options {
  together?: boolean;
  signal?: AbortSignal;
  run?: typeof runFiles | typeof runAndRepeat;
}

/** Runs test files with these texts, each in a process or all in one. */
async function runTexts(
  t: Test,
  texts: Record<string, string>,
  { together = false, signal, run = runFiles }: Options = {},
) {
  const names = Object.keys(texts).map((name) => `${name.replaceAll(' ', '-')}.test.ts`);
  const files = Object.values(texts).map((text) => `import t from 'tap';\n${text}`);
  const folder = t.testdir(Object.fromEntries(names.map((name, index) => [name, files[index] ?? ''])));
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  const paths = names.map((name) => join(folder, name));
  const groups = together ? [paths] : paths.map((path) => [path]);
  const never = new AbortController().signal;
  const report = await run(groups, { jobs: 2, env: { PATH: process.env.PATH }, print, signal: signal ?? never });
  return { failures: new Map<string, Tally>(), ...report, paths, output: lines.join('\n') };
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

t.test('Files in one process are counted one by one, and none of them sees what another one left', async (t) => {
  const texts = {
    'leaves a variable': `process.env.LEFT = '1'; t.teardown(() => console.error('torn down')); ${PASS}`,
    'sees none': `console.error('next'); t.equal(process.env.LEFT, undefined); t.match(t.testdirName, /sees-none/);`,
    fails: `t.test('inner', async (t) => t.equal(1, 2));`,
    'has its own context': `${PASS} t.test('again', async (t) => t.equal(t.parent, (await import('tap')).default));`,
  };
  const report = await runTexts(t, texts, { together: true });
  t.match(report, { passed: 4, failed: 1, failures: new Map([[report.paths[2], { passed: 0, failed: 1 }]]) });
  t.match(report.output, /torn down\nnext/);
  for (const path of report.paths) t.match(report.output, `${relative(ROOT, path)} (`);
});

t.test('A file that ends its process takes no other file with it', async (t) => {
  const texts = {
    passes: PASS,
    exits: `t.test('exits', async (t) => { t.ok(true); process.exit(0); });`,
    dies: `t.test('dies', async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); });`,
    'exits with an error': `${PASS} process.on('exit', () => { process.exitCode = 3; });`,
    'passes too': PASS,
  };
  const { passed, failed, paths, failures } = await runTexts(t, texts, { together: true });
  t.match({ passed, failed }, { passed: 3, failed: 3 });
  t.same([...failures.keys()].sort(), paths.slice(1, 4).sort());
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
    'tests outside of itself': `${PASS} (await import('../../../node_modules/tap/dist/esm/index.js')).default.pass();`,
  };
  const { failures, paths, passed, output } = await runTexts(t, texts);
  for (const [index, what] of Object.keys(texts).entries()) {
    t.match(failures.get(paths[index] as string), { failed: 1 }, `a file that ${what}`);
  }
  t.equal(passed, Object.values(texts).filter((text) => text.startsWith(PASS)).length);
  t.match(output, /Error: late/, 'what a file wrote');
});

t.test('A file that passes only when it is repeated is counted as flaky, and two of them fail the run', async (t) => {
  const passesLater = `
    import { existsSync, writeFileSync } from 'node:fs';
    const mark = import.meta.filename + '.mark';
    t.test('passes later', async (t) => t.ok(existsSync(mark) || writeFileSync(mark, '')));`;
  for (const [names, expected] of [
    [['later'], { passed: 2, failed: 0 }],
    [['later', 'too'], { passed: 1, failed: 2 }],
  ] as const) {
    await t.test(`${names.length} flaky`, async (t) => {
      const texts = { passes: PASS, ...Object.fromEntries(names.map((name) => [name, passesLater])) };
      const { passed, failed, output } = await runTexts(t, texts, { run: runAndRepeat });
      t.same({ passed, failed }, expected);
      for (const name of names) t.match(output, new RegExp(`^Flaky: .*/${name}\\.test\\.ts failed`, 'm'));
      t.match(output, new RegExp(`^${names.length} flaky$`, 'm'));
    });
  }
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
  const running = runTexts(t, { waiting: text }, { signal: interruption.signal });
  while (!existsSync(join(t.testdirName, 'started'))) await sleep(20);
  interruption.abort();
  const { output, paths, failures } = await running;
  t.match(output, /waiting\.test\.ts .*: killed by SIGTERM$/m);
  t.match(failures.get(paths[0] as string), { failed: 1 });
});
