import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const SOURCE = fileURLToPath(new URL('../src/destination.ts', import.meta.url));

/** Runs `script` with a destination on its standard output, and returns the process. */
function run(script: string, stdout: 'pipe' | number) {
  const code = `import { createLogDestination } from ${JSON.stringify(SOURCE)};
    const log = createLogDestination();
    const line = (i) => JSON.stringify({ i, text: 'x'.repeat(100) }) + '\\n';
    ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', stdout, 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

const numbersOf = (lines: string) =>
  lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).i);
const range = (length: number) => Array.from({ length }, (_, i) => i);

t.test('Every line is written, in order, also by a process that ends at once', async (t) => {
  const path = join(t.testdir(), 'log');
  const fd = openSync(path, 'a');
  const [code] = await once(run('for (let i = 0; i < 3000; i++) log.write(line(i)); process.exit(3);', fd), 'exit');
  closeSync(fd);
  t.equal(code, 3);
  t.same(numbersOf(readFileSync(path, 'utf8')), range(3000));
});

t.test('A slow reader gets every line, in order', async (t) => {
  // Standard output that the process uses otherwise is a pipe that does not block, which rejects a write when it is full.
  const script = 'process.stdout.write(""); for (let i = 0; i < 3000; i++) log.write(line(i));';
  const stdout = run(script, 'pipe').stdout as Readable;
  await once(stdout, 'readable');
  t.same(numbersOf(await text(stdout)), range(3000));
});

t.test('A process whose log cannot be written ends at once, with its own exit code', async (t) => {
  const fd = openSync('/dev/full', 'a');
  t.teardown(() => closeSync(fd));
  const [code] = await once(
    run('log.write(line(1)); setTimeout(() => { log.write(line(2)); process.exit(4); }, 500)', fd),
    'exit',
  );
  t.equal(code, 4);
  const [atOnce] = await once(run('log.write(line(1)); process.exit(5);', fd), 'exit');
  t.equal(atOnce, 5);
});

t.test('Lines that cannot be written are counted', async (t) => {
  const fd = openSync('/dev/full', 'a');
  t.teardown(() => closeSync(fd));
  // In a process that ends: a destination never gives up.
  const script = `
    const full = createLogDestination({ flushMs: 0, retryMs: 1 });
    const counts = [full.droppedLines];
    for (let i = 1; i <= 3; i++) {
      full.write('{"one":1}\\n');
      full.write('{"two":2}\\n');
      while (full.droppedLines < 2 * i) await new Promise((resolve) => setTimeout(resolve, 1));
      counts.push(full.droppedLines);
    }
    process.exit(String(counts) === '0,2,4,6' ? 6 : 1);`;
  const [code] = await once(run(script, fd), 'exit');
  t.equal(code, 6);
});
