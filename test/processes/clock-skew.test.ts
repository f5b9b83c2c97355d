import { executions } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { type AiAnswer, startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { countStates, findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

const LEASE_MS = 2000;
const SHIFT_MS = 60_000;
const SHIFTED_CLOCK = new URL('shifted-clock.ts', import.meta.url).href;
/** Further renewals and ticks after which no execution may have been taken over. */
const ROUNDS = 2;

t.setTimeout(120_000);

t.test('Processes whose clocks are a minute ahead and behind take over no lease and lose none', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer();
  t.teardown(ai.close);
  const held: ((answer: AiAnswer) => void)[] = [];
  ai.answer(() => new Promise((resolve) => held.push(resolve)));
  const startShifted = (shiftMs: number) => {
    const clock = { NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`, CLOCK_SHIFT_MS: String(shiftMs) };
    const env = { ...clock, METRICS_PORT: '0' };
    return startApiProcess(t, { databaseUrl, aiUrl: ai.url, leaseMs: LEASE_MS, env });
  };
  const [right, ahead, behind] = await Promise.all([startShifted(0), startShifted(SHIFT_MS), startShifted(-SHIFT_MS)]);
  const processes = [right, ahead, behind];
  // Due for all clocks.
  const at = new Date(Date.now() - 2 * SHIFT_MS);
  for (const process of processes) {
    await insertDueTasks(db, { userIds: await insertPeople(db, 1), perUser: 2, at });
    await process.tick({ wait: false });
  }
  await until(() => held.length === 6);

  const before = await readLeases();
  let seen = before;
  for (let round = 0; round < ROUNDS; round++) {
    const previous = seen;
    await until(async () => {
      await Promise.all(processes.map((process) => process.tick({ wait: false })));
      seen = await readLeases();
      return seen.every(({ leaseUntil }, n) => Number(leaseUntil) !== Number(previous[n]?.leaseUntil));
    });
  }
  t.strictSame(seen.map(toClaim), before.map(toClaim), 'each is still held by the same claim');
  t.equal(held.length, 6, 'no model is called twice');
  for (const answer of held) answer({ text: 'Done.' });
  await until(async () => (await countStates(db)).completed === 6);
  t.strictSame(await findNotOnce(db), []);
  t.strictSame(await findWrongCounters(db), []);

  await until(() => findWarnings(ahead).length > 0 && findWarnings(behind).length > 0);
  t.match(findWarnings(ahead), [{ level: 40, msg: /^the clock of this machine is ahead of the database's/ }]);
  t.match(findWarnings(behind), [{ level: 40, msg: /^the clock of this machine is behind the database's/ }]);
  t.strictSame(findWarnings(right), []);
  for (const [process, seconds] of [
    [right, 0],
    [ahead, -60],
    [behind, 60],
  ] as const) {
    const skew = await readSkew(process);
    t.ok(Math.abs(skew - seconds) < 2, `carillon_clock_skew_seconds is ${skew}`);
  }

  function readLeases() {
    const { id, claimToken, interruptions, leaseUntil } = executions;
    return db.select({ id, claimToken, interruptions, leaseUntil }).from(executions).orderBy(id);
  }
});

interface Held {
  id: number;
  claimToken: string | null;
  interruptions: number;
}
const toClaim = ({ id, claimToken, interruptions }: Held) => ({ id, claimToken, interruptions });

const findWarnings = ({ log }: ApiProcess) => log.filter(({ clockSkewMs }) => clockSkewMs !== undefined);

async function readSkew({ log }: ApiProcess): Promise<number> {
  const line = log.find(({ msg }) => msg === 'metrics');
  const text = await (await fetch(String(line?.url))).text();
  return Number(/^carillon_clock_skew_seconds (\S+)$/m.exec(text)?.[1]);
}
