import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '@carillon/api/lib/config/config';
import { tasks } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { startCarillon } from '../src/start.ts';

const DEMO = fileURLToPath(new URL('../src/demo.ts', import.meta.url));
// Each waits for processes.
t.jobs = 3;

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

/** Runs the demo to its end; `temp` is its folder for temporary files. */
async function runDemo(t: Test, env: Record<string, string>) {
  const temp = mkdtempSync(join(tmpdir(), 'carillon-demo-test-'));
  chmodSync(temp, 0o711);
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [DEMO], { cwd: temp, env: { PATH, NODE_COMPILE_CACHE, TMPDIR: temp, ...env } });
  t.teardown(() => {
    child.kill('SIGKILL');
    rmSync(temp, { recursive: true, force: true });
  });
  const exit = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { exit: await exit, stdout, stderr, temp };
}

t.test('The demo starts everything itself if nothing runs, and leaves nothing behind', async (t) => {
  const { exit, stdout, stderr, temp } = await runDemo(t, { BASE_URL: NOWHERE });
  t.equal(stderr, '');
  t.strictSame(exit, [0, null]);
  t.match(stdout, 'Start with the task you have put off');
  t.match(stdout, 'tokens: 17 in, 16 out, 33 in total');
  t.match(stdout, / {2}ran {2}execution 1, started \d+ ms after the planned instant/);
  t.match(stdout, /claude mcp add --transport http carillon http:\/\/127\.0\.0\.1:\d+\/mcp /);
  t.match(stdout, 'create_task: task 2, first on Friday 2 January 2099, 17:00');
  t.match(stdout, 'source: https://two.example.com/kettle');
  t.match(stdout, /Slack got “.*Two shops.*” with 2 sources/);
  t.match(stdout, 'the webhook got 1 of 3 results: price changed from 49 to 39');
  t.match(
    stdout,
    /task\.overdue {2}Task "Price watch" is overdue\. The run planned for .* did not finish within 1 minute\./,
  );
  t.match(stdout, /task\.recovered {2}Task "Price watch" works again\./);
  t.match(stdout, / {2}late {2}execution 6\n/);
  t.match(stdout, 'the webhook got execution.completed, task.overdue, task.recovered\n');
  t.match(stdout, '✓ Every step worked.');
  t.strictSame(readdirSync(temp), []);
});

t.test('A failed run is reported, also by the exit code', async (t) => {
  const { exit, stdout, stderr, temp } = await runDemo(t, { BASE_URL: NOWHERE, AI_BASE_URL: `${NOWHERE}/v1` });
  t.match(stderr, '✗ The run failed: ');
  t.match(stdout, 'The demo failed.');
  t.strictSame(exit, [1, null]);
  t.strictSame(readdirSync(temp), []);
});

t.test(
  'The demo uses a running service, in the language of the terminal, and deletes its task afterwards',
  async (t) => {
    const { db, url: databaseUrl } = await testDatabase(t);
    const config = loadConfig({
      PORT: '0',
      DATABASE_URL: databaseUrl,
      DATA_DIR: t.testdir(),
      AI_BASE_URL: 'offline',
      LOG_LEVEL: 'silent',
    });
    const { url, close } = await startCarillon(config, 1000);
    t.teardown(close);
    const { exit, stdout, stderr } = await runDemo(t, { BASE_URL: url, LANG: 'pt_BR.UTF-8' });
    t.equal(stderr, '');
    t.strictSame(exit, [0, null]);
    t.match(stdout, `O Carillon está em ${url}: a demonstração usa esse serviço`);
    t.match(stdout, 'O assistente, o preço alterado e a execução perdida ficam de fora');
    t.equal(await db.$count(tasks), 0);
  },
);
