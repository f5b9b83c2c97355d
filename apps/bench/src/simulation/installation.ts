import { type Activity, type Clock, createClock } from './clock.ts';
import { DURATIONS as TIMES, WARM_UP_RUNS } from './durations.ts';
import { createLock, type Lock } from './lock.ts';
import { createMachine, type Machine } from './machine.ts';

const MAX_RUNNING = 1000;
const MAX_CLAIMS = 4;
const MAX_BATCH = 200;
const POLL_MS = 1000;

export interface Scenario {
  processes: number;
  /** `EXECUTION_CONCURRENCY`. */
  slots: number;
  runs: number;
  /** Shortest and longest duration of the calls of the provider. */
  callMs: readonly [number, number];
  /** Cores that all share, AI server included; or those of the database, where each API process has one of its own. */
  cores: { shared: number } | { database: number };
  areNew: boolean;
}

export interface Prediction {
  /** Runs per second, from the due instant to the last completion. */
  rate: number;
  /** From the due instant to the last start, in milliseconds. */
  lastStartMs: number;
  /** In percent: of the time of a process, that its claims wait for those of others. */
  waiting: number;
  /** In percent, of as many claims as may be in progress at once. */
  claiming: number;
  /** In percent: of the time of the cores of the database, or of the shared ones. */
  busy: number;
}

/** All runs are due at the same instant, each of another user. */
export function simulate(scenario: Scenario): Prediction {
  const { processes, runs } = scenario;
  const clock = createClock();
  const shared = 'shared' in scenario.cores;
  const cores = 'shared' in scenario.cores ? scenario.cores.shared : scenario.cores.database;
  const databaseMachine = createMachine(clock, cores);
  const database: Database = {
    machine: databaseMachine,
    claims: createLock(clock, MAX_CLAIMS),
    left: runs,
    queued: 0,
    running: 0,
    completed: 0,
    calls: 0,
    lastStartMs: 0,
  };
  const all = Array.from({ length: processes }, () => {
    const machine = shared ? databaseMachine : createMachine(clock, 1);
    return createProcess(clock, machine, database, scenario);
  });
  clock.start(all[0]?.queueDue() ?? nothing());
  all.forEach((process, n) => {
    clock.start(process.poll((POLL_MS * (n + 1)) / processes));
  });
  clock.run(() => database.completed === runs);
  const { claims } = database;
  return {
    rate: (runs / clock.now) * 1000,
    lastStartMs: database.lastStartMs,
    waiting: (claims.waitedMs / processes / clock.now) * 100,
    claiming: (claims.heldMs / clock.now) * 100,
    busy: (databaseMachine.busyMs / cores / clock.now) * 100,
  };
}

interface Database {
  machine: Machine;
  claims: Lock;
  /** Due, and not queued yet. */
  left: number;
  queued: number;
  running: number;
  completed: number;
  /** Calls of the provider so far. */
  calls: number;
  lastStartMs: number;
}

function* nothing(): Activity {}

function createProcess(clock: Clock, machine: Machine, database: Database, { slots, callMs, cores, areNew }: Scenario) {
  const thread = createLock(clock);
  /** With those whose result is not stored yet. */
  let held = 0;
  let reserved = 0;
  let results = 0;
  let started = 0;
  let isStoring = false;
  let isClaiming = false;

  function* javascript(ms: number): Activity {
    yield thread.acquire;
    yield machine.work(ms);
    thread.release();
  }

  /** Queues what is due, 200 runs at a time. */
  function* queueDue(): Activity {
    while (database.left > 0) {
      const count = Math.min(MAX_BATCH, database.left);
      database.left -= count;
      yield* javascript(TIMES.queue.api);
      yield database.machine.work(TIMES.queue.postgres + TIMES.queue.postgresPerRun * count);
      database.queued += count;
      clock.start(claimAll());
    }
  }

  function* poll(afterMs: number): Activity {
    for (yield clock.wait(afterMs); ; yield clock.wait(POLL_MS)) if (database.queued > 0) clock.start(claimAll());
  }

  function* claimAll(): Activity {
    if (isClaiming) return;
    isClaiming = true;
    while (held + reserved < slots && (yield* completeAndClaim(0)) > 0);
    isClaiming = false;
  }

  /** Results that arrive while others are stored are the next batch. */
  function* storeResults(): Activity {
    if (isStoring) return;
    isStoring = true;
    while (results > 0) {
      const batch = Math.min(results, MAX_BATCH);
      results -= batch;
      yield* completeAndClaim(batch);
    }
    isStoring = false;
  }

  /** Returns how many it has started. */
  function* completeAndClaim(batch: number): Activity<number> {
    const free = Math.max(0, slots - held - reserved);
    reserved += free;
    const { claim, apiPerRun, flush } = TIMES;
    yield* javascript((batch > 0 ? claim.api : 0) + apiPerRun.beforeLock * batch);
    if (batch > 0) yield database.machine.work(claim.postgres + claim.postgresPerResult * batch);
    yield database.claims.acquire;
    const room = MAX_RUNNING - (database.running - batch);
    const starting = Math.min(free + batch, database.queued, room);
    database.queued -= starting;
    database.running += starting - batch;
    const writing = claim.postgresUnderLock + claim.postgresPerStart * Math.max(starting, batch);
    yield clock.together(
      javascript(claim.apiUnderLock + apiPerRun.underLock * starting),
      (function* () {
        yield database.machine.work(writing);
      })(),
    );
    yield clock.wait(flush);
    database.claims.release();
    database.completed += batch;
    reserved -= free;
    held += starting - batch;
    if (starting > 0) database.lastStartMs = clock.now;
    for (let n = 0; n < starting; n++) clock.start(run());
    return starting;
  }

  function* run(): Activity {
    const [shortest, longest] = callMs;
    started += 1;
    const more = areNew && started <= WARM_UP_RUNS ? TIMES.newProcessPerRun : 0;
    yield* javascript(TIMES.apiPerRun.call + more);
    if ('shared' in cores) yield machine.work(TIMES.aiServer);
    // Spread evenly: fractions of multiples of the golden ratio.
    yield clock.wait(shortest + (longest - shortest) * ((database.calls++ * 0.618034) % 1));
    results += 1;
    yield* storeResults();
  }

  return { queueDue, poll };
}
