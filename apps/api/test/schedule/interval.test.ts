import t from 'tap';
import { countRuns } from '../../src/product/schedule/count-runs.ts';
import { nextOccurrence, type Schedule } from '../../src/product/schedule/recurrence.ts';
import { isSameSchedule } from '../../src/product/schedule/same-schedule.ts';

const schedule = (given: Partial<Schedule>): Schedule => ({
  scheduledFor: new Date('2026-10-20T06:00:00Z'),
  recurrence: 'daily',
  recurrencePattern: null,
  timezone: 'Europe/Berlin',
  ...given,
});

function list(given: Partial<Schedule>, count: number): string[] {
  const found: string[] = [];
  const plan = schedule(given);
  let at = nextOccurrence(plan, new Date(plan.scheduledFor.getTime() - 1));
  while (at !== null && found.length < count) {
    found.push(at.toISOString().slice(0, 16));
    at = nextOccurrence(plan, at);
  }
  return found;
}

t.test('Every third day is counted from the first run, and keeps its time across a clock change', async (t) => {
  t.same(list({ interval: 3 }, 4), ['2026-10-20T06:00', '2026-10-23T06:00', '2026-10-26T07:00', '2026-10-29T07:00']);
});

t.test('Every second week keeps the weekday', async (t) => {
  t.same(list({ recurrence: 'weekly', interval: 2 }, 3), ['2026-10-20T06:00', '2026-11-03T07:00', '2026-11-17T07:00']);
});

t.test('Every third month from the 31st is the last day of a shorter month, and the 31st again', async (t) => {
  const first = { scheduledFor: new Date('2026-08-31T08:00:00Z'), recurrence: 'monthly', timezone: 'UTC' } as const;
  t.same(list({ ...first, interval: 3 }, 5), [
    '2026-08-31T08:00',
    '2026-11-30T08:00',
    '2027-02-28T08:00',
    '2027-05-31T08:00',
    '2027-08-31T08:00',
  ]);
  t.same(list({ ...first, interval: 99 }, 3), ['2026-08-31T08:00', '2034-11-30T08:00', '2043-02-28T08:00']);
});

t.test('A run in a gap of the clocks moves, and the one after it does not', async (t) => {
  const gap = { scheduledFor: new Date('2026-03-27T01:30:00Z'), interval: 2 };
  t.same(list(gap, 3), ['2026-03-27T01:30', '2026-03-29T01:30', '2026-03-31T00:30']);
});

t.test('Each occurrence follows from any instant before it', async (t) => {
  for (const recurrence of ['daily', 'weekly', 'monthly'] as const) {
    for (const interval of [1, 2, 5, 99]) {
      const plan = schedule({ recurrence, interval });
      const all = list({ recurrence, interval }, 6);
      for (const [at, before] of all.slice(0, -1).entries()) {
        const later = new Date(new Date(`${before}:00Z`).getTime() + 3_600_000);
        t.equal(nextOccurrence(plan, later)?.toISOString().slice(0, 16), all[at + 1], `${recurrence} ${interval}`);
      }
    }
  }
});

t.test('An interval makes another schedule, and is counted', async (t) => {
  t.notOk(isSameSchedule(schedule({}), schedule({ interval: 2 })));
  t.ok(isSameSchedule(schedule({}), schedule({ interval: 1 })));
  t.ok(isSameSchedule(schedule({ interval: 2 }), schedule({ interval: 2, timezone: 'europe/berlin' })));
  const from = Date.UTC(2026, 9, 20);
  t.same(countRuns(schedule({ interval: 3 }), [from, from + 10 * 86_400_000]), [4]);
});
