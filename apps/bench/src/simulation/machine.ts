import type { Clock, Step } from './clock.ts';

export interface Machine {
  /** Needs `ms` of processor time of one core. */
  work(ms: number): Step;
  /** The processor time of all work so far, in milliseconds. */
  readonly busyMs: number;
}

interface Job {
  leftMs: number;
  resume(): void;
}

const LEAST_MS = 1e-9;

/** All work shares the cores equally, and one piece of work uses at most one core. */
export function createMachine(clock: Clock, cores: number): Machine {
  const jobs = new Set<Job>();
  let updatedAt = 0;
  let busyMs = 0;
  let planned = 0;

  const speed = () => Math.min(1, cores / jobs.size);

  function update() {
    const doneMs = (clock.now - updatedAt) * speed();
    for (const job of jobs) job.leftMs -= doneMs;
    busyMs += jobs.size === 0 ? 0 : doneMs * jobs.size;
    updatedAt = clock.now;
  }

  function planNext() {
    planned += 1;
    if (jobs.size === 0) return;
    const plan = planned;
    const leastMs = Math.min(...Array.from(jobs, ({ leftMs }) => leftMs));
    clock.wait(Math.max(0, leastMs) / speed())(() => {
      if (plan === planned) endDone();
    });
  }

  function endDone() {
    update();
    const ended = [...jobs].filter(({ leftMs }) => leftMs <= LEAST_MS);
    for (const job of ended) jobs.delete(job);
    planNext();
    for (const job of ended) job.resume();
  }

  return {
    work: (ms) => (resume) => {
      update();
      jobs.add({ leftMs: ms, resume });
      planNext();
    },
    get busyMs() {
      return busyMs;
    },
  };
}
