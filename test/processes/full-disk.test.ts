import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executions } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import t, { type Test } from 'tap';
import { CRON_SECRET } from '../../apps/api/test/support/context.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { countStates, insertDueTasks, insertPeople } from './due-tasks.ts';

const API = fileURLToPath(new URL('../../apps/api/src/main.ts', import.meta.url));
const SCHEDULER = fileURLToPath(new URL('../../apps/scheduler/src/main.ts', import.meta.url));
const LEASE_MS = 1000;
const REQUESTS = 60;
/** Without the fix a process was killed after 30 s. */
const MAX_STOP_MS = 15_000;

const skip = process.getuid?.() === 0 ? false : 'only root mounts a file system of a fixed size';

/** Mounts a file system of 128 KiB; returns its folder, and functions that fill and free it. */
function mountSmallDisk(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', folder]);
  t.teardown(() => {
    execFileSync('umount', ['--lazy', folder]);
    rmSync(folder, { recursive: true });
  });
  const filler = join(folder, 'filler');
  const fill = () => {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(4096), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  };
  return { folder, fill, free: () => rmSync(filler) };
}

/** Starts a process whose standard output is a new file in `folder`. */
function startLogging(t: Test, main: string, folder: string, env: Record<string, string>) {
  const path = join(folder, 'log');
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [main], {
    cwd: t.testdir(),
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: t.testdir(), LOG_LEVEL: 'debug', CRON_SECRET, ...env },
    stdio: ['ignore', openSync(path, 'a'), 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const readLog = () => readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const stop = async () => {
    const exit = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), MAX_STOP_MS);
    child.kill('SIGTERM');
    const result = await exit;
    clearTimeout(timer);
    return result;
  };
  return { readLog, stop };
}

const findDropped = (lines: readonly string[]) => lines.filter((line) => line.includes('"msg":"log lines dropped"'));

t.test('An API process works, counts and stops while the disk of its log is full', { skip }, async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  // With an account, the process prints nothing but its log.
  const userIds = await insertPeople(db, 1);
  const ai = await startAiServer();
  t.teardown(ai.close);
  const disk = mountSmallDisk(t);
  const { readLog, stop } = startLogging(t, API, disk.folder, {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: databaseUrl,
    AI_BASE_URL: ai.url,
    EXECUTION_LEASE_MS: String(LEASE_MS),
  });
  const findUrl = (pattern: RegExp) => pattern.exec(readLog().join('\n'))?.[1];
  await until(() => findUrl(/Server listening at ([^\s"]+)/) !== undefined);
  const url = findUrl(/Server listening at ([^\s"]+)/);
  const metricsUrl = findUrl(/"url":"([^"]+\/metrics)"/);

  disk.fill();
  ai.answer(() => ({ text: 'while the disk is full', delayMs: 2 * LEASE_MS }));
  await insertDueTasks(db, { userIds, perUser: 2, at: new Date() });
  const headers = { authorization: `Bearer ${CRON_SECRET}`, prefer: 'respond-async' };
  t.equal((await fetch(`${url}/api/cron/scheduler`, { headers })).status, 200);
  for (let i = 0; i < REQUESTS; i++) {
    const signal = AbortSignal.timeout(10_000);
    t.equal((await fetch(`${url}/nothing`, { signal })).status, 404);
  }
  t.equal((await fetch(`${url}/api/health/ready`)).status, 200);
  await until(async () => (await countStates(db)).completed === 2);
  const interruptions = await db.select({ interruptions: executions.interruptions }).from(executions);
  t.same(interruptions, [{ interruptions: 0 }, { interruptions: 0 }], 'the leases were renewed');
  t.same(findDropped(readLog()), []);

  disk.free();
  await until(() => findDropped(readLog()).length > 0);
  const lines = readLog();
  const [dropped] = findDropped(lines).map((line) => JSON.parse(line));
  const written = lines.filter((line) => line.includes('"status":404')).length;
  t.ok(dropped.lines + written >= REQUESTS, `${dropped.lines} lines are reported as dropped, ${written} were written`);
  const incomplete = lines.filter((line) => !/^{.*}$/.test(line));
  t.ok(incomplete.length <= 1, 'at most the line that was written while the disk became full is cut');
  const scraped = await (await fetch(metricsUrl ?? '')).text();
  t.match(scraped, new RegExp(`^carillon_log_lines_dropped_total ${dropped.lines}$`, 'm'));

  disk.fill();
  await Promise.all(Array.from({ length: REQUESTS }, () => fetch(`${url}/nothing`)));
  t.strictSame(await stop(), [0, null]);
});

t.test('A scheduler process stops while the disk of its log is full', { skip }, async (t) => {
  const disk = mountSmallDisk(t);
  disk.fill();
  let calls = 0;
  const api = createServer((_request, response) => {
    calls += 1;
    response.writeHead(calls % 2 ? 500 : 503).end();
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  t.teardown(() => api.close());
  const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const { stop } = startLogging(t, SCHEDULER, disk.folder, { API_URL: apiUrl, SCHEDULER_INTERVAL_MS: '50' });
  // Each failure that differs from the one before is a line.
  await until(() => calls > 10);
  t.strictSame(await stop(), [0, null]);
});
