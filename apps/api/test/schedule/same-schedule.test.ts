import t from 'tap';
import type { Schedule } from '../../src/product/schedule/recurrence.ts';
import { isSameSchedule } from '../../src/product/schedule/same-schedule.ts';

const scheduledFor = new Date('2026-11-23T08:00:00Z');
const daily: Schedule = { scheduledFor, recurrence: 'daily', recurrencePattern: null, timezone: 'Europe/Berlin' };
const by = (recurrencePattern: string): Schedule => ({ ...daily, recurrencePattern });

t.test('Another spelling of a zone is the same schedule', async (t) => {
  for (const [a, b] of [
    ['Europe/Berlin', 'europe/berlin'],
    ['Europe/Kyiv', 'Europe/Kiev'],
    ['Asia/Kolkata', 'asia/calcutta'],
    ['UTC', 'Etc/UTC'],
    ['US/Eastern', 'America/New_York'],
  ] as const) {
    t.ok(isSameSchedule({ ...daily, timezone: a }, { ...daily, timezone: b }), `${a} ${b}`);
  }
  t.notOk(isSameSchedule(daily, { ...daily, timezone: 'Europe/Lisbon' }));
});

t.test('Another spelling of a pattern is the same schedule, and another pattern is not', async (t) => {
  const same: [string, ...string[]][] = [
    [
      '0 9 * * 1-5',
      '00  9 * * MON-FRI',
      ' 0 09 ? * mon,TUE,3,4,5 ',
      '0 9 */1 * 1-5',
      '0 9 1-31 * +1-5',
      '0-0 9 * JAN-DEC 1-5',
    ],
    ['0 9 * * 0', '0 9 * * 7', '0 9 * * SUN', '0 9 * * sun#1,sun#2,sun#3,sun#4,sun#5'],
    ['0 9 * * *', '0 9 ? * ?', '0 9 1-31 * *', '0 9 1-31 * 1', '0 9 2 * 0-6', '0 9 * * */1'],
    ['0 9 15 * *', '0 9 15 * */1', '0 9 15 1-12 ?'],
    ['0 9 L * *', '0 9 l * *'],
    ['0 9 * * 5L', '0 9 * * FRI#L', '0 9 * * friL'],
    ['0 9 1,15 * 1', '0 9 15,1 * MON'],
    ['*/15 * * * *', '0,15,30,45 * * * *', '0-59/15 */1 * * *'],
    ['0 9 */2 * 1', '0 9 */2 * +1', '0 9 1-31/2 * +1'],
    ['0 9 15W * *'],
    ['0 9 LW * *'],
    ['0 9 1-31/2 * 1'],
    ['0 9 * * 1#1'],
    ['0 9 * 1-11 *'],
    ['0 9-10 * * *'],
  ];
  for (const [at, group] of same.entries()) {
    for (const one of group) {
      t.ok(isSameSchedule(by(group[0]), by(one)), `${group[0]} is ${one}`);
      for (const [other] of same.toSpliced(at, 1))
        t.notOk(isSameSchedule(by(one), by(other)), `${one} is not ${other}`);
    }
  }
});

t.test('A pattern with the runs of a recurrence is the same schedule', async (t) => {
  const weekly = { ...daily, recurrence: 'weekly' } as const;
  const monthly = { ...daily, recurrence: 'monthly' } as const;
  t.ok(isSameSchedule(daily, by('0 9 * * *')));
  t.ok(isSameSchedule(by('0 9 * * MON'), weekly));
  t.ok(isSameSchedule(monthly, by('0 9 23 * *')));
  t.notOk(isSameSchedule(daily, by('0 8 * * *')));
  t.notOk(isSameSchedule(daily, weekly));
  t.notOk(isSameSchedule(monthly, by('0 9 22 * *')));
  const odd = { ...daily, scheduledFor: new Date('2026-11-23T08:00:30Z') };
  t.notOk(isSameSchedule(odd, { ...odd, recurrencePattern: '0 9 * * *' }), 'a pattern has no seconds');
  const last = { ...monthly, scheduledFor: new Date('2027-01-31T08:00:00Z') };
  t.ok(isSameSchedule(last, { ...last, recurrencePattern: '0 9 L * *' }));
  const late = { ...monthly, scheduledFor: new Date('2027-01-30T08:00:00Z') };
  t.notOk(isSameSchedule(late, { ...late, recurrencePattern: '0 9 30 * *' }), 'which no February has');
});

t.test('Another first run is another schedule, and a single run is the same in every zone', async (t) => {
  const later = new Date('2026-11-24T08:00:00Z');
  t.notOk(isSameSchedule(daily, { ...daily, scheduledFor: later }));
  const once = { ...daily, recurrence: 'once' } as const;
  t.ok(isSameSchedule(once, { ...once, timezone: 'Asia/Tokyo' }));
  t.notOk(isSameSchedule(once, daily));
});

t.test('A pattern or a zone that is no longer valid is the same only as itself', async (t) => {
  t.ok(isSameSchedule(by('nonsense'), by('nonsense')));
  t.notOk(isSameSchedule(by('nonsense'), by('0 9 * * *')));
  const nowhere = { ...daily, timezone: 'Mars/Base' };
  t.ok(isSameSchedule(nowhere, nowhere));
  t.notOk(isSameSchedule(nowhere, daily));
});
