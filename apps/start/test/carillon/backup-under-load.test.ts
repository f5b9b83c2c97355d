import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, executions, tasks, users } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { count, inArray } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { emptyDatabase } from '../../../../packages/db/test/empty-database.ts';
import { startApiProcess } from '../../../../test/processes/api-process.ts';
import { ask } from '../../../../test/processes/clients.ts';
import { ADMIN_KEY, CRON_SECRET } from '../../../api/test/support/context.ts';
import { startAiServer } from '../../../api/test/support/servers/ai-server.ts';
import { startReceiver } from '../../../api/test/support/servers/receiver.ts';
import { until } from '../../../api/test/support/until.ts';
import { runCarillon } from './run-carillon.ts';

const secret = (letter: string) => Buffer.from(`the ${letter} secret of the tests`.padEnd(32, '.')).toString('base64');
const SETTINGS = {
  CRON_SECRET,
  ADMIN_KEY,
  JWT_SECRET: secret('j'),
  ENCRYPTION_KEY: secret('e'),
  STORAGE_DRIVER: 'disk',
  STORAGE_URL: 'https://files.example.com',
  RATE_LIMIT_MULTIPLIER: '1000',
  LOG_LEVEL: 'info',
};
const CREDENTIALS = { email: 'alice@example.com', password: 'Carillon-2026' };
const JSON_BODY = { 'content-type': 'application/json' };

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'carillon-backup-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** What the service has acknowledged. */
interface Acknowledged {
  tasks: number[];
  executions: number[];
  files: { url: string; content: string }[];
}

async function post(api: string, path: string, body: object | FormData, headers: Record<string, string> = {}) {
  const isForm = body instanceof FormData;
  const given = isForm ? body : JSON.stringify(body);
  return ask(`${api}${path}`, { method: 'POST', headers: { ...(isForm ? {} : JSON_BODY), ...headers }, body: given });
}

/** Creates and runs tasks, uploads and deletes files, as fast as possible until `signal` aborts. */
function startLoad(api: string, auth: Record<string, string>, signal: AbortSignal) {
  const done: Acknowledged = { tasks: [], executions: [], files: [] };
  const repeat = async (work: (round: number) => Promise<void>) => {
    for (let round = 0; !signal.aborted; round++) await work(round);
  };
  const loops = [
    repeat(async (round) => {
      const scheduledFor = new Date(Date.now() + 1500).toISOString();
      const task = {
        name: `Task ${round}`,
        prompt: 'Say something short.',
        scheduledFor,
        recurrence: 'daily',
        timezone: 'UTC',
      };
      const { status, body } = await post(api, '/api/agent/create-task', task, auth);
      if (status !== 201) return;
      const taskId = body.taskId as number;
      done.tasks.push(taskId);
      const run = await post(api, `/api/tasks/${taskId}/execute`, {}, auth);
      if (run.status === 201) done.executions.push(run.body.executionId as number);
    }),
    repeat(async (round) => {
      const content = `file ${round} `.repeat(20_000);
      const form = new FormData();
      form.set('file', new Blob([content], { type: 'text/plain' }), `file-${round}.txt`);
      const { status, body } = await post(api, '/api/upload', form, auth);
      const { url } = (body.file ?? body) as { url?: string };
      if (status !== 200 || !url) return;
      // Every third is deleted at once, so that the backup meets files that are being deleted.
      if (round % 3 !== 2) return void done.files.push({ url, content });
      await ask(`${api}/api/upload`, {
        method: 'DELETE',
        headers: { ...JSON_BODY, ...auth },
        body: JSON.stringify({ url }),
      });
    }),
    repeat(async () => {
      await ask(`${api}/api/cron/scheduler`, {
        headers: { authorization: `Bearer ${CRON_SECRET}`, prefer: 'respond-async' },
      });
    }),
  ];
  return { done, ended: Promise.all(loops) };
}

t.test('A backup taken under load is restored into an empty installation, where the service continues', async (t) => {
  const ai = await startAiServer({ delayMs: 300, record: false });
  t.teardown(() => ai.close());
  const receiver = await startReceiver(t);
  const { url: databaseUrl, db } = await testDatabase(t);
  const env = { ...SETTINGS, DATA_DIR: folder(t) };
  const api = await startApiProcess(t, { databaseUrl, aiUrl: ai.url, env });
  await post(api.url, '/api/auth/register', { name: 'Alice', ...CREDENTIALS });
  const signedIn = await post(api.url, '/api/auth/login', CREDENTIALS, { 'x-request-token': 'true' });
  const auth = { authorization: `Bearer ${signedIn.body.token}` };
  await db.update(users).set({ plan: 'pro' });
  const events = ['execution.completed'];
  t.equal((await post(api.url, '/api/webhooks', { url: receiver.url, events }, auth)).status, 201);

  const stop = new AbortController();
  const { done, ended } = startLoad(api.url, auth, stop.signal);
  const isBusy = async () => (await db.$count(executions, inArray(executions.status, ['pending', 'running']))) > 0;
  await until(() => done.tasks.length >= 10 && done.files.length >= 5 && receiver.received.length >= 3);
  await until(isBusy);
  const before: Acknowledged = structuredClone(done);
  const archive = join(env.DATA_DIR, 'backup.tar.zst');
  const backup = await runCarillon(
    ['backup', archive, '--json'],
    { ...env, DATABASE_URL: databaseUrl },
    { cwd: folder(t) },
  );
  t.same([backup.code, backup.err], [0, '']);
  t.ok(done.tasks.length > before.tasks.length, 'the service continued during the backup');
  stop.abort();
  await ended;
  await api.end('SIGKILL');

  const to = await emptyDatabase(t, 'restored_service');
  const there = { ...SETTINGS, DATA_DIR: folder(t), DATABASE_URL: to.url };
  const restored = await runCarillon(['restore', archive], there, { cwd: folder(t) });
  t.same([restored.code, restored.err], [0, '']);
  t.match(restored.out, /^Restored \d+ rows and \d+ files as of 2\d{3}-/);
  t.match(restored.out, 'All usage counters match the ledger.');
  t.match(restored.out, 'All storage totals match the uploads.');

  const open = connect(to.url, { max: 2, deadlineMs: 30_000 });
  t.teardown(open.close);
  const has = async (ids: number[], table: typeof tasks | typeof executions) =>
    (await open.db.select({ found: count() }).from(table).where(inArray(table.id, ids)))[0]?.found;
  t.equal(await has(before.tasks, tasks), before.tasks.length, 'every task acknowledged before');
  t.equal(await has(before.executions, executions), before.executions.length, 'every execution acknowledged before');
  const live = inArray(executions.status, ['pending', 'running']);
  t.ok((await open.db.$count(executions, live)) > 0, 'some of them were running');

  const next = await startApiProcess(t, { databaseUrl: to.url, aiUrl: ai.url, leaseMs: 1000, env: there });
  t.equal((await post(next.url, '/api/auth/login', CREDENTIALS)).status, 200, 'sign-in works');
  const session = await ask(`${next.url}/api/executions`, { headers: auth });
  t.equal(session.status, 200, 'sessions continue');
  for (const { url, content } of before.files) {
    const response = await fetch(url.replace(SETTINGS.STORAGE_URL, `${next.url}/files`));
    t.ok(response.status === 200 && (await response.text()) === content, 'each file is served unchanged');
  }
  await until(async () => (await open.db.$count(executions, live)) === 0);
  t.equal(
    await open.db.$count(executions, inArray(executions.id, before.executions)),
    before.executions.length,
    'running executions have ended',
  );
  const verified = await runCarillon(['usage', 'verify'], there, { cwd: folder(t) });
  t.equal(verified.code, 0, verified.out);
  const delivered = receiver.received.length;
  await post(next.url, `/api/tasks/${before.tasks[0]}/execute`, {}, auth);
  await until(() => receiver.received.length > delivered);
  t.pass('webhooks receive new events');
});
