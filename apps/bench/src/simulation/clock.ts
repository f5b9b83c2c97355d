import TinyQueue from 'tinyqueue';

/** A step of a simulated activity: it calls `resume` when it is over. */
export type Step = (resume: () => void) => void;

/** What happens one step after the other. */
export type Activity<T = void> = Generator<Step, T, void>;

export interface Clock {
  /** In milliseconds. */
  readonly now: number;
  wait(ms: number): Step;
  start(activity: Activity): void;
  together(...activities: Activity[]): Step;
  /** Runs until nothing is left to happen, or `isOver`. */
  run(isOver?: () => boolean): void;
}

interface Happening {
  at: number;
  /** The order of those of one instant. */
  turn: number;
  happen(): void;
}

/** Simulated time: it jumps from one event to the next. */
export function createClock(): Clock {
  const events = new TinyQueue<Happening>([], (a, b) => a.at - b.at || a.turn - b.turn);
  let now = 0;
  let turns = 0;
  const wait =
    (ms: number): Step =>
    (resume) =>
      events.push({ at: now + ms, turn: turns++, happen: resume });
  function start(activity: Activity, onEnd = () => {}) {
    const resume = () => {
      const { done, value } = activity.next();
      if (done) onEnd();
      else value(resume);
    };
    wait(0)(resume);
  }
  return {
    get now() {
      return now;
    },
    wait,
    start,
    together:
      (...activities) =>
      (resume) => {
        let left = activities.length;
        for (const activity of activities) start(activity, () => --left === 0 && resume());
      },
    run(isOver = () => false) {
      for (let next = events.pop(); next && !isOver(); next = events.pop()) {
        now = next.at;
        next.happen();
      }
    },
  };
}
