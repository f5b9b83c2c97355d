import { readFileSync } from 'node:fs';
import t from 'tap';
import { type Activity, createClock } from '../src/simulation/clock.ts';
import { type Scenario, simulate } from '../src/simulation/installation.ts';
import { createLock } from '../src/simulation/lock.ts';
import { createMachine } from '../src/simulation/machine.ts';
import {
  compareWithMeasured,
  formatCapacities,
  formatCatchUps,
  formatCompared,
  predictCapacities,
  predictCatchUps,
} from '../src/simulation/predictions.ts';

const SCALING = new URL('../../../docs/operating/scaling.md', import.meta.url);
const SCENARIO: Scenario = {
  processes: 2,
  slots: 100,
  runs: 2000,
  callMs: [0, 0],
  cores: { database: 8 },
  areNew: false,
};

t.test('Time passes only by waiting, and what happens at one instant keeps its order', async (t) => {
  const clock = createClock();
  const seen: [string, number][] = [];
  function* activity(name: string, ms: number): Activity {
    seen.push([name, clock.now]);
    yield clock.wait(ms);
    seen.push([name, clock.now]);
  }
  function* both(): Activity {
    yield clock.together(activity('c', 1), activity('d', 4));
    seen.push(['both', clock.now]);
  }
  clock.start(activity('a', 5));
  clock.start(activity('b', 5));
  clock.start(both());
  clock.run();
  t.strictSame(seen, [
    ['a', 0],
    ['b', 0],
    ['c', 0],
    ['d', 0],
    ['c', 1],
    ['d', 4],
    ['both', 4],
    ['a', 5],
    ['b', 5],
  ]);
});

t.test('Work shares the cores: three pieces on two of them take half as long again', async (t) => {
  const clock = createClock();
  const machine = createMachine(clock, 2);
  const ends: number[] = [];
  function* work(ms: number): Activity {
    yield machine.work(ms);
    ends.push(Math.round(clock.now * 1000) / 1000);
  }
  for (const ms of [10, 10, 20]) clock.start(work(ms));
  clock.run();
  t.strictSame(ends, [15, 15, 25]);
  t.equal(Math.round(machine.busyMs), 40);
});

t.test('A lock has one holder at a time, in the order of arrival, and counts waiting and holding', async (t) => {
  const clock = createClock();
  const lock = createLock(clock);
  const ends: [string, number][] = [];
  function* hold(name: string, ms: number): Activity {
    yield lock.acquire;
    yield clock.wait(ms);
    lock.release();
    ends.push([name, clock.now]);
  }
  clock.start(hold('a', 10));
  clock.start(hold('b', 5));
  clock.start(hold('c', 1));
  clock.run();
  t.strictSame(ends, [
    ['a', 10],
    ['b', 15],
    ['c', 16],
  ]);
  t.equal(lock.waitedMs, 25);
  t.equal(lock.heldMs, 16);
  t.throws(() => lock.release(), { message: 'The lock is not held.' });
});

t.test('A lock for two has two holders at a time', async (t) => {
  const clock = createClock();
  const lock = createLock(clock, 2);
  const ends: number[] = [];
  function* hold(ms: number): Activity {
    yield lock.acquire;
    yield clock.wait(ms);
    lock.release();
    ends.push(clock.now);
  }
  for (const ms of [10, 4, 1]) clock.start(hold(ms));
  clock.run();
  t.strictSame(ends, [4, 5, 10]);
  t.equal(lock.waitedMs, 4);
  t.equal(lock.heldMs, 7.5);
});

t.test('Calls that take long bound the rate by the slots, and by 1000 in all', async (t) => {
  const callMs = [10_000, 10_000] as const;
  const ofSlots = simulate({ ...SCENARIO, callMs });
  t.ok(ofSlots.rate > 18 && ofSlots.rate <= 20, `${ofSlots.rate} of 2 × 100 slots / 10 s`);
  const inAll = simulate({ ...SCENARIO, callMs, processes: 20, runs: 4000 });
  t.ok(inAll.rate > 90 && inAll.rate <= 100, `${inAll.rate} of 1000 / 10 s`);
});

t.test('More processes carry more, and their claims wait for each other', async (t) => {
  const [one, eight] = [1, 8].map((processes) => simulate({ ...SCENARIO, runs: 10_000, processes }));
  t.ok(one && eight && eight.rate > one.rate);
  t.equal(one?.waiting, 0);
  t.ok(eight && eight.claiming > (one?.claiming ?? 0) && eight.claiming <= 100);
  t.ok(eight && eight.waiting > 0 && eight.waiting < 100);
});

t.test('What is due together starts as slots become free', async (t) => {
  const { lastStartMs } = simulate({ ...SCENARIO, callMs: [1000, 1000], runs: 450 });
  t.ok(lastStartMs > 2000 && lastStartMs < 2500, `${lastStartMs} for 450 runs in 2 × 100 slots`);
});

t.test('What was measured is predicted within a fifth, and docs/operating/scaling.md has the tables', async (t) => {
  const compared = compareWithMeasured();
  for (const { what, deviation } of compared) t.ok(Math.abs(deviation) < 0.2, `${what}: ${deviation}`);
  const page = readFileSync(SCALING, 'utf8');
  const tables = [formatCompared(compared), formatCapacities(predictCapacities()), formatCatchUps(predictCatchUps())];
  for (const line of tables.flat()) t.match(page, line);
});
