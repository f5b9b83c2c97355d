import t from 'tap';
import { nextOccurrence } from '../../src/product/schedule/recurrence.ts';
import { buildSchedule, check, list, type Rule } from './cases.ts';

check(
  t,
  'The first run is an occurrence, and the following ones repeat its local time',
  `
  daily                | daily  | Asia/Kolkata       | 2026-11-20T03:30Z | 2026-11-19T00:00Z | 2026-11-20T03:30Z 2026-11-21T03:30Z
  strictly after       | daily  | UTC                | 2026-11-20T09:00Z | 2026-11-20T09:00Z | 2026-11-21T09:00Z
  weekly               | weekly | UTC                | 2026-11-20T09:00Z | 2026-11-20T09:00Z | 2026-11-27T09:00Z 2026-12-04T09:00Z
  across the date line | weekly | Pacific/Kiritimati | 2026-11-20T11:00Z | 2026-11-25T00:00Z | 2026-11-27T11:00Z
  through a change     | daily  | Europe/Berlin      | 2026-03-27T08:00Z | 2026-03-28T00:00Z | 2026-03-28T08:00Z 2026-03-29T07:00Z
  began 30 years ago   | daily  | Europe/Berlin      | 1996-07-01T07:00Z | 2026-11-20T12:00Z | 2026-11-21T08:00Z
`,
);

check(
  t,
  'A monthly schedule repeats the day, or takes the last day of a month without it',
  `
  the 31st                  | monthly | UTC          | 2027-01-31T09:00Z | 2027-01-31T09:00Z | 2027-02-28T09:00Z 2027-03-31T09:00Z 2027-04-30T09:00Z 2027-05-31T09:00Z
  the 30th                  | monthly | UTC          | 2028-01-30T09:00Z | 2028-01-30T09:00Z | 2028-02-29T09:00Z 2028-03-30T09:00Z
  29 February               | monthly | UTC          | 2028-02-29T09:00Z | 2029-02-01T00:00Z | 2029-02-28T09:00Z 2029-03-29T09:00Z
  29 February four years on | monthly | UTC          | 2028-02-29T09:00Z | 2032-02-01T00:00Z | 2032-02-29T09:00Z
  no leap day in 2100       | monthly | UTC          | 2027-01-31T09:00Z | 2100-02-01T00:00Z | 2100-02-28T09:00Z 2100-03-31T09:00Z
  the year ends             | monthly | UTC          | 2026-10-31T09:00Z | 2026-11-30T09:00Z | 2026-12-31T09:00Z 2027-01-31T09:00Z
  the local day counts      | monthly | Asia/Tokyo   | 2027-01-30T20:00Z | 2027-02-01T00:00Z | 2027-02-27T20:00Z 2027-03-30T20:00Z
  a short month and a gap   | monthly | Africa/Cairo | 2026-12-30T22:30Z | 2027-04-01T00:00Z | 2027-04-29T22:30Z 2027-05-30T21:30Z
`,
);

check(
  t,
  'A pattern decides the next runs, and the first run needs no match',
  `
  outside               | 0 9 * * 1-5 | Asia/Kolkata  | 2026-11-21T10:00Z | 2026-11-20T00:00Z | 2026-11-21T10:00Z 2026-11-23T03:30Z
  inside, once          | 0 9 * * *   | UTC           | 2026-11-21T09:00Z | 2026-11-20T00:00Z | 2026-11-21T09:00Z 2026-11-22T09:00Z
  never before it       | 0 9 * * *   | UTC           | 2027-06-01T10:00Z | 2026-11-20T00:00Z | 2027-06-01T10:00Z 2027-06-02T09:00Z
  leap days             | 0 0 29 2 *  | Europe/Berlin | 2026-01-01T00:00Z | 2096-03-01T00:00Z | 2104-02-28T23:00Z
  after croner gives up | 0 9 L * *   | UTC           | 3500-01-01T00:00Z | 3500-02-01T00:00Z | 3500-02-28T09:00Z
`,
);

t.test('A once schedule has its first run and no other', async (t) => {
  const once = buildSchedule('once', 'Europe/Berlin', '2026-11-20T09:00Z');
  t.same(list(once, '2026-11-20T08:59:59.999Z', 3), ['2026-11-20T09:00Z']);
  t.equal(nextOccurrence(once, new Date('2026-11-20T09:00Z')), null);
});

t.test('Later runs have the seconds and milliseconds of the first run', async (t) => {
  const daily = buildSchedule('daily', 'Europe/Berlin', '2026-10-20T07:00:12.345Z');
  t.same(nextOccurrence(daily, new Date('2026-11-20T08:00:12.344Z')), new Date('2026-11-20T08:00:12.345Z'));
  t.same(nextOccurrence(daily, new Date('2026-11-20T08:00:12.345Z')), new Date('2026-11-21T08:00:12.345Z'));
});

t.test('The calendar ends with the year 9999, for every recurrence and without an error', async (t) => {
  const rules: Rule[] = ['once', 'daily', 'weekly', 'monthly', '0 9 * * *', '*/5 * * * *', '0 0 29 2 *'];
  for (const rule of rules) {
    const late = buildSchedule(rule, 'America/New_York', '9999-12-31T23:59Z');
    t.same(nextOccurrence(late, new Date()), new Date('9999-12-31T23:59Z'), rule);
    t.equal(nextOccurrence(late, late.scheduledFor), null, rule);
    t.equal(nextOccurrence(late, new Date(8.64e15)), null, rule);
  }
  t.same(
    list(buildSchedule('daily', 'Europe/Berlin', '9000-07-01T07:00Z'), '9999-12-29T12:00Z', 9).at(-1),
    '9999-12-31T08:00Z',
  );
});

t.test('A pattern that never fires ends, and an invalid one throws', async (t) => {
  t.equal(nextOccurrence(buildSchedule('0 0 31 2 *', 'UTC', '2026-01-01T00:00Z'), new Date()), null);
  const after = new Date('2027-01-01T00:00Z');
  for (const [rule, zone, first] of [
    ['daily', 'Europe/Nowhere', '2026-01-01T00:00Z'],
    ['0 25 * * *', 'UTC', '2026-01-01T00:00Z'],
    ['daily', 'UTC', 'never'],
  ] as const) {
    t.throws(() => nextOccurrence(buildSchedule(rule, zone, first), after), Error, `${rule} ${zone} ${first}`);
  }
});
