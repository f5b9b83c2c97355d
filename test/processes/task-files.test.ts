import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queryRows, tasks } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../../apps/api/test/support/context.ts';
import { type Person, signUp } from '../../apps/api/test/support/people.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';

const TASKS = 10_000;
const MIB = 1024 * 1024;
const DATA_DIR = mkdtempSync(join(tmpdir(), 'carillon-task-files-'));
t.teardown(() => rmSync(DATA_DIR, { recursive: true, force: true }));
const env = { DATA_DIR };
const { app, ctx, clock, databaseUrl } = await testContext(t, { env });
clock.set(new Date());

t.setTimeout(180_000);

const write = (count: number, note: string) =>
  Array.from(
    { length: count },
    (_, at) => `- externalId: ${note}-${at}
  name: Task ${at}
  prompt: |-
    What is new in part ${at}? ${note}
    If a source is missing, say so first. Invent nothing.
  scheduledFor: 2026-01-01T08:${String(at % 60).padStart(2, '0')}:00Z
  recurrence: daily
  recurrencePattern: ${at % 60} ${at % 24} * * 1-5
  timezone: Europe/Lisbon
  aiModel: openai/gpt-5-mini
  maxTokens: 2048
  alerts:
    failuresInRow: 3
`,
  ).join('');

const send = (url: string, { headers }: Person, body: string) =>
  fetch(`${url}/api/user/import`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/yaml' },
    body,
  });

const count = ({ id }: Person) => ctx.db.$count(tasks, eq(tasks.userId, id));

/** The most memory that a process had at a time. */
function readPeak(pid: number): number {
  const [, kib = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

/** The time of the processor that a process has used, in seconds: other programs do not slow it down. */
function readProcessorTime(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) / 100;
}

t.test('Ten thousand tasks are imported and exported within 10 s each, in bounded memory', async (t) => {
  const alice = await signUp(app);
  const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline', env });
  const small = readPeak(api.pid);
  const seconds: number[] = [];
  const measure = async <T>(work: () => Promise<T>): Promise<T> => {
    const [startedAt, used] = [performance.now(), readProcessorTime(api.pid)];
    const result = await work();
    seconds.push(readProcessorTime(api.pid) - used);
    t.comment(
      `${((performance.now() - startedAt) / 1000).toFixed(1)} s, of which ${seconds.at(-1)?.toFixed(1)} s of the processor`,
    );
    return result;
  };
  const created = await measure(async () => (await send(api.url, alice, write(TASKS, 'a'))).json());
  t.match(created, { created: TASKS, errors: [] });
  const again = await measure(async () => (await send(api.url, alice, write(TASKS, 'a'))).json());
  t.match(again, { created: 0, unchanged: TASKS });
  const file = await measure(async () => (await fetch(`${api.url}/api/user/tasks`, { headers: alice.headers })).text());
  t.equal(file.match(/^- externalId: a-/gm)?.length, TASKS);
  const grown = (readPeak(api.pid) - small) / MIB;
  t.comment(`${Math.round(grown)} MiB`);
  for (const time of seconds) t.ok(time < 10, `${time} s`);
  t.ok(grown < 400, `${grown} MiB`);
});

t.test('A process killed during an import leaves all tasks or none', async (t) => {
  const counts: number[] = [];
  for (const share of [0.05, 0.3, 0.6, 0.9, 1]) {
    const alice = await signUp(app);
    const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline', env });
    const [before, full] = [await readSize(), 4 * MIB];
    const sending = send(api.url, alice, write(4000, `k${share}`)).catch(() => null);
    // Pages of rows that are not committed count too.
    await until(async () => (await readSize()) >= before + share * full || (await count(alice)) > 0);
    await api.end('SIGKILL');
    await sending;
    // The row of the user is locked until the server of the database notices the end of the connection.
    await ctx.db.execute(sql`select from users where id = ${alice.id} for update`);
    counts.push(await count(alice));
  }
  t.comment(counts.join(', '));
  for (const left of counts) t.ok(left === 0 || left === 4000, String(left));
});

async function readSize(): Promise<number> {
  const [{ size } = {}] = await queryRows<{ size: number }>(ctx.db, sql`select pg_relation_size('tasks')::int as size`);
  return size as number;
}
