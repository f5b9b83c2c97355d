import type { Test } from 'tap';
import { nextOccurrence, type Schedule } from '../../src/product/schedule/recurrence.ts';

export type Rule = Schedule['recurrence'] | `${string} ${string}`;

/** Builds a schedule; a rule with a space is a cron pattern. */
export function buildSchedule(rule: Rule, timezone: string, scheduledFor: string): Schedule {
  const isPattern = rule.includes(' ');
  return {
    scheduledFor: new Date(scheduledFor),
    recurrence: isPattern ? 'daily' : (rule as Schedule['recurrence']),
    recurrencePattern: isPattern ? rule : null,
    timezone,
  };
}

/** The first `count` occurrences after `after`, to the minute. */
export function list(schedule: Schedule, after: string, count: number): string[] {
  const found: string[] = [];
  let at = nextOccurrence(schedule, new Date(after));
  while (at !== null && found.length < count) {
    found.push(at.toISOString().replace(':00.000Z', 'Z'));
    at = nextOccurrence(schedule, at);
  }
  return found;
}

/** One guarantee and its cases, one in a line: name | rule | zone | first run | after | the occurrences from there. */
export function check(t: Test, guarantee: string, table: string): void {
  t.test(guarantee, async (t) => {
    for (const line of table.trim().split('\n')) {
      const [name, rule, zone, first, after, wanted] = line.split('|').map((cell) => cell.trim());
      const runs = wanted!.split(' ');
      t.same(
        list(buildSchedule(rule as Rule, zone!, first!), after!, runs.length),
        runs,
        `${name}: ${rule} in ${zone}`,
      );
    }
  });
}
