import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { answer, startApi, until } from './api.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

function startMain(t: Test, env: Record<string, string>) {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [MAIN], { env: { NODE_COMPILE_CACHE, ...env }, cwd: t.testdir() });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, stderr: text(child.stderr), exit: once(child, 'exit') };
}

t.test('The process triggers the API until SIGTERM or SIGINT, and exits with 0', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { url, calls } = await startApi(t, (_request, response) => answer(response, null));
    const { child, exit } = startMain(t, { API_URL: url, CRON_SECRET: 's3cret' });
    const stdout = text(child.stdout);
    await until(() => calls.length > 0);
    child.kill(signal);
    t.strictSame(await exit, [0, null]);
    const messages = (await stdout)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).msg);
    t.same(messages.slice(-2), ['stopping', 'stopped']);
  }
});

t.test('The secret is read from a file, or in development from the data folder', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'carillon-scheduler-'));
  writeFileSync(join(dir, 'secret'), 'from-file\n');
  writeFileSync(join(dir, 'secrets.json'), '{"CRON_SECRET":"from-data"}');
  const seen: unknown[] = [];
  const { url } = await startApi(t, (request, response) => {
    seen.push(request.headers.authorization);
    answer(response, null);
  });
  startMain(t, { API_URL: `${url}/`, CRON_SECRET_FILE: join(dir, 'secret') });
  await until(() => seen.length > 0);
  startMain(t, { API_URL: url, DATA_DIR: dir });
  await until(() => seen.includes('Bearer from-data'));
  t.equal(seen[0], 'Bearer from-file');
});

t.test('An invalid setting stops the start with one line', async (t) => {
  const lines: [Record<string, string>, RegExp][] = [
    [
      { CRON_SECRET: 'x', API_URL: 'nowhere' },
      /^API_URL is "nowhere", but takes a URL that begins with http:\/\/ or https:\/\/\.\n$/,
    ],
    [
      { CRON_SECRET: 'x', SCHEDULER_INTERVAL_MS: '1s' },
      /^SCHEDULER_INTERVAL_MS is "1s", but takes a whole number.*\n$/,
    ],
    [{ CRON_SECRET: 'x', LOG_LEVEL: 'loud' }, /^LOG_LEVEL is "loud", but takes .*\n$/],
    [{ CRON_SECRET_FILE: '/nowhere' }, /^CRON_SECRET_FILE names \/nowhere, which cannot be read or is empty\.\n$/],
    [{ NODE_ENV: 'production' }, /^Production needs CRON_SECRET.*\n$/],
    [{}, /^CRON_SECRET is not set, and .*secrets\.json does not contain one yet.*\n$/],
  ];
  for (const [env, line] of lines) {
    const { exit, stderr } = startMain(t, env);
    t.match(await stderr, line);
    t.strictSame(await exit, [1, null]);
  }
});
