import { randomUUID } from 'node:crypto';
import { usageRecords } from '@carillon/db';
import t from 'tap';
import { createUnansweredClaims } from '../../../src/lib/queue/leases.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { connectionLost, type Interfere, interruptTransactions } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask, insertTasks, readRun } from '../../support/task-rows.ts';

const { ctx, ai, alice, newWorker } = await testEngine(t);

/** The first transaction goes through `interfere`. */
function interruptFirst(interfere: Interfere) {
  let isFirst = true;
  const { db, state } = interruptTransactions(ctx.db, (transact) => {
    if (!isFirst) return transact();
    isFirst = false;
    return interfere(transact);
  });
  state.armed = true;
  return db;
}

t.test('Executions whose claim was committed without an answer run at once, as if it had been answered', async (t) => {
  const tasks = await insertTasks(ctx, [alice().id, alice().id]);
  await enqueueDue(ctx);
  const db = interruptFirst(async (transact) => {
    await transact();
    throw connectionLost();
  });
  await newWorker(t, { db }).drain();
  for (const task of tasks) t.match(await readRun(ctx, task), { status: 'completed', interruptions: 0, attempt: 1 });
  t.equal(ai.requests.length, 2);
  t.equal(await ctx.db.$count(usageRecords), 2);
});

t.test('Executions whose claim was not committed are claimed again, and run once', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const db = interruptFirst(async (transact) => {
    await transact().catch(() => {});
    throw connectionLost();
  });
  await ctx.db.execute(`create function refuse() returns trigger language plpgsql as $$begin raise 'not now'; end$$`);
  await ctx.db.execute(`create constraint trigger refuse after update on executions deferrable initially deferred
    for each row execute function refuse()`);
  const worker = newWorker(t, { db });
  await worker.drain();
  await ctx.db.execute('drop function refuse cascade');
  t.match(await readRun(ctx, task), { status: 'pending' });
  t.equal(ai.requests.length, 0);
  await worker.drain();
  t.match(await readRun(ctx, task), { status: 'completed', interruptions: 0 });
  t.equal(ai.requests.length, 1);
});

t.test('A claim that is committed later, because it waited for a standby, is taken then, and once', async (t) => {
  const committed = new Set<number>();
  const claims = createUnansweredClaims(30_000, async () => committed);
  const row = { id: 1, claimToken: randomUUID() };
  claims.add([row, { id: 2, claimToken: randomUUID() }]);
  t.equal(claims.unchecked, 2);
  t.strictSame(await claims.takeClaimed(), []);
  t.equal(claims.unchecked, 0);
  committed.add(1);
  t.strictSame(await Promise.all([claims.takeClaimed(), claims.takeClaimed()]), [[row], []]);
  t.strictSame(await claims.takeClaimed(), []);
});

t.test('A claim that is not committed until its lease would have expired is no longer looked for', async (t) => {
  let checks = 0;
  const claims = createUnansweredClaims(-1, async () => {
    checks += 1;
    return new Set<number>();
  });
  claims.add([{ id: 1, claimToken: randomUUID() }]);
  await claims.takeClaimed();
  await claims.takeClaimed();
  t.equal(checks, 1);
});
