/** Rows of apps/bench/RESULTS.md of 2026-11-23. Times are of one core. */
const MEASURED = {
  together: { source: 'costs: a planned run, many due together', apiMs: 0.214, postgresMs: 0.456 },
  alone: { source: 'million: processor time for each run', apiMs: 2.7, postgresMs: 6.48 },
  perRun: {
    source: 'notes, "Executions": PostgreSQL for each execution, in batches of about 100',
    batch: 100,
    micros: { queue: 124 + 12, result: 78, choice: 40, start: 72, ledger: 31, events: 21, task: 20, quotas: 28 },
  },
  newProcess: { source: 'executions: 10,000 in a new process', rate: 1916 },
  warmProcess: { source: 'executions: the same again', rate: 2201 },
  aiServer: { source: 'the AI server of the benchmarks alone, 15,000 calls', ms: 0.08 },
};

/** Figures of RESULTS.md that the simulation is compared with, in runs per second. */
export const MEASURED_RATES = {
  one: { source: 'processes-executions', rate: 2002 },
  two: { source: 'processes-executions', rate: 1913 },
  four: { source: 'processes-executions', rate: 1667 },
  warm: { source: 'executions, again', rate: MEASURED.warmProcess.rate },
  slow: { source: 'slow', rate: 828 },
};

const { together, alone, newProcess, warmProcess } = MEASURED;
const { batch, micros } = MEASURED.perRun;

/** A run that is due alone takes three: one that queues it, one that starts it, one that completes it. */
const transaction = { api: alone.apiMs / 3, postgres: alone.postgresMs / 3 };
/** Without the transaction that completes runs and starts others, which costs as much as two. */
const perRun = {
  api: together.apiMs - (2 * transaction.api) / batch,
  postgres: together.postgresMs - (2 * transaction.postgres) / batch,
};
const allMicros = Object.values(micros).reduce((sum, part) => sum + part, 0);
const postgresOf = (...parts: (keyof typeof micros)[]) =>
  parts.reduce((sum, part) => sum + (micros[part] / allMicros) * perRun.postgres, 0);

/** What the simulation needs, in milliseconds. */
export const DURATIONS = {
  queue: { api: transaction.api, postgres: transaction.postgres, postgresPerRun: postgresOf('queue') },
  claim: {
    api: transaction.api,
    apiUnderLock: transaction.api,
    postgres: transaction.postgres / 2,
    postgresUnderLock: (transaction.postgres * 3) / 2,
    postgresPerResult: postgresOf('result'),
    postgresPerStart: postgresOf('choice', 'start', 'ledger', 'events', 'task', 'quotas'),
  },
  /** Assumed: the call of the provider takes half of the time, the rest is spent evenly before the lock and under it. */
  apiPerRun: { call: perRun.api / 2, beforeLock: perRun.api / 4, underLock: perRun.api / 4 },
  /** Assumed, as in docs/operating/sizing.md. */
  flush: 1,
  aiServer: MEASURED.aiServer.ms,
  /** What 10,000 runs take longer in a new process, for each of its first `WARM_UP_RUNS`. */
  newProcessPerRun: 10_000 / newProcess.rate - 10_000 / warmProcess.rate,
};

/** Makes a second for all runs a millisecond for each. */
export const WARM_UP_RUNS = 1000;
