import { setTimeout as delay } from 'node:timers/promises';
import { type Db, executions, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { ask, JWT_SECRET, signInAll } from './clients.ts';
import { countStates, insertDueTasks, insertPeople } from './due-tasks.ts';

const USERS = 50;
const PER_USER = 10;
/** So many cancellations at once, each after up to so long. */
const AT_ONCE = 16;
const PAUSE_MS = 100;

// Starts take long on a busy machine.
t.setTimeout(300_000);

interface Run {
  id: number;
  userId: number;
  prompt: string;
}

/** Tasks of `users` that are due, with their queued runs and the tokens of their owners. */
async function queueRuns(db: Db, tick: ApiProcess['tick'], { users, perUser }: { users: number; perUser: number }) {
  const userIds = await insertPeople(db, users);
  const tokens = await signInAll(db, userIds);
  const tokenOf = new Map(userIds.map((userId, n) => [userId, tokens[n]]));
  await insertDueTasks(db, { userIds, perUser, at: new Date() });
  await tick({ wait: false });
  const runs = await queryRows<Run>(
    db,
    sql`select e.id, e.user_id, t.prompt from executions e join tasks t on t.id = e.task_id order by e.id`,
  );
  const cancel = async ({ url }: ApiProcess, run: Run) => {
    const headers = { authorization: `Bearer ${tokenOf.get(run.userId)}` };
    for (let isRepeated = false; ; isRepeated = true) {
      const { status } = await ask(`${url}/api/executions/${run.id}/cancel`, { method: 'POST', headers });
      // A machine that is too busy answers 503, and that it may be tried again.
      if (status !== 503) return { run, status, isRepeated, answeredAt: performance.now() };
      await delay(PAUSE_MS);
    }
  };
  return { runs, cancel };
}

/** A provider that answers after 0 to 300 ms, or never for every other run; `open` has the calls that wait. */
async function startProvider(teardown: (work: () => unknown) => unknown, everyOtherHangs = true) {
  const ai = await startAiServer({ record: false });
  teardown(ai.close);
  const open = new Map<string, number>();
  const closedAt = new Map<string, number>();
  let count = 0;
  ai.answer(async ({ body, hungUp }) => {
    const prompt = String(body.messages.at(-1)?.content);
    open.set(prompt, (open.get(prompt) ?? 0) + 1);
    count += 1;
    const isSilent = !everyOtherHangs || count % 2 === 0;
    void hungUp.then(() => {
      closedAt.set(prompt, performance.now());
      open.delete(prompt);
    });
    if (isSilent) return { hang: 'head' };
    await delay(Math.random() * 300);
    open.delete(prompt);
    return {};
  });
  return { url: ai.url, open, closedAt };
}

const countFaults = async (db: Db) => {
  const [faults] = await queryRows<Record<string, number>>(
    db,
    sql`
    select (select count(*)::int from executions where status in ('pending', 'running') or claim_token is not null) as live,
      (select count(*)::int from executions where status = 'failed' and error_code is distinct from 'CANCELLED') as failed,
      (select count(*)::int from executions where tokens_reserved <> 0) as reserved,
      (select count(*)::int from usage_counters where tokens_reserved <> 0) as reservations,
      (select count(*)::int from executions e where e.started_at is not null and 1 <>
        (select count(*) from usage_records u where u.execution_id = e.id and u.executions = 1)) as not_billed_once,
      (select count(*)::int from usage_records u join executions e on e.id = u.execution_id where e.started_at is null) as billed_unstarted,
      (select count(*)::int from tasks t where 1 <> (select count(*) from executions e where e.task_id = t.id)) as repeated,
      (select count(*)::int from executions e left join occurrences o on o.task_id = e.task_id and o.planned_for = e.planned_for
        where coalesce(o.fate = 'cancelled', false) <> (e.status = 'failed')) as wrong_fates,
      (select count(*)::int from tasks where consecutive_failures <> 0) as failures`,
  );
  return faults;
};
const NO_FAULTS = {
  live: 0,
  failed: 0,
  reserved: 0,
  reservations: 0,
  notBilledOnce: 0,
  billedUnstarted: 0,
  repeated: 0,
  wrongFates: 0,
  failures: 0,
};

t.test('500 runs over two processes, cancelled at random moments, each end once and are billed once', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const provider = await startProvider((work) => t.teardown(work));
  const settings = { databaseUrl, aiUrl: provider.url, env: { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '100' } };
  const [one, two] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
  const { runs, cancel } = await queueRuns(db, one.tick, { users: USERS, perUser: PER_USER });
  t.equal(runs.length, USERS * PER_USER);

  const waiting = runs.toSorted(() => Math.random() - 0.5);
  const answers: Awaited<ReturnType<typeof cancel>>[] = [];
  const cancelNext = async () => {
    for (let run = waiting.pop(); run; run = waiting.pop()) {
      await delay(Math.random() * PAUSE_MS);
      answers.push(await cancel(waiting.length % 2 === 0 ? one : two, run));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, cancelNext));
  const cancelled = answers.filter(({ status }) => status === 200);
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
  await until(() => provider.open.size === 0);
  t.ok(
    cancelled.some(({ run }) => provider.closedAt.has(run.prompt)),
    'some had asked the provider',
  );

  const { pending, running, completed, failed } = await countStates(db);
  t.strictSame({ pending, running, ended: completed + failed }, { pending: 0, running: 0, ended: runs.length });
  const statusById = new Map((await db.select().from(executions)).map(({ id, status }) => [id, status]));
  const wrong = answers.filter(({ run, status, isRepeated }) => {
    // The first of two may have been stored, although it was answered with 503.
    return statusById.get(run.id) !== (status === 200 ? 'failed' : 'completed') && !isRepeated;
  });
  t.strictSame(wrong, [], 'each ends as the answer says');
  t.strictSame(await countFaults(db), NO_FAULTS);
  t.strictSame(await findWrongCounters(db), []);
  const waits = cancelled
    .flatMap(({ run, answeredAt }) => {
      const at = provider.closedAt.get(run.prompt);
      return at === undefined ? [] : [Math.max(0, Math.round(at - answeredAt))];
    })
    .toSorted((a, b) => a - b);
  t.comment(
    `${cancelled.length} cancelled; ${waits.length} connections closed after p50 ${waits[waits.length >> 1]} ms, max ${waits.at(-1)} ms`,
  );
});

t.test('A run of a process that was killed is cancelled, and not run again', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const provider = await startProvider((work) => t.teardown(work), false);
  const env = { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '100' };
  const settings = { databaseUrl, aiUrl: provider.url, leaseMs: 3000, env };
  const killed = await startApiProcess(t, settings);
  const { runs, cancel } = await queueRuns(db, killed.tick, { users: 5, perUser: 4 });
  await until(() => provider.open.size === runs.length);
  await killed.end('SIGKILL');
  const other = await startApiProcess(t, settings);
  const answers = await Promise.all(runs.map((run) => cancel(other, run)));
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]));
  await until(() => provider.open.size === 0);
  await other.tick();
  t.strictSame(await countFaults(db), NO_FAULTS);
  t.strictSame(await findWrongCounters(db), []);
});
