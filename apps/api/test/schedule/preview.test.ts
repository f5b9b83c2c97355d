import t from 'tap';
import { previewOccurrences } from '../../src/product/schedule/preview.ts';
import type { Schedule } from '../../src/product/schedule/recurrence.ts';

/** The local times and notes that the user sees. */
function seen(schedule: Partial<Schedule>, after: string, count: number) {
  const whole = {
    scheduledFor: new Date(0),
    recurrence: 'daily',
    recurrencePattern: null,
    timezone: 'UTC',
    ...schedule,
  } as const;
  return previewOccurrences(whole, new Date(after), count).map(({ local, note }) => [local, ...(note ? [note] : [])]);
}

t.test(
  'An occurrence shows its instant and its local time with the offset, without a note if it follows the schedule',
  async (t) => {
    const daily = {
      scheduledFor: new Date('2026-11-20T03:30Z'),
      recurrence: 'daily',
      recurrencePattern: null,
      timezone: 'Asia/Kolkata',
    } as const;
    t.same(previewOccurrences(daily, new Date('2026-11-20T03:30Z'), 1), [
      { at: new Date('2026-11-21T03:30Z'), local: '2026-11-21T09:00:00+05:30[Asia/Kolkata]' },
    ]);
  },
);

t.test('A preview lists as many occurrences as asked for, or fewer if the schedule ends', async (t) => {
  t.equal(seen({ recurrencePattern: '* * * * *' }, '2026-11-20T00:00Z', 50).length, 50);
  t.equal(seen({ scheduledFor: new Date('2026-11-20T09:00Z'), recurrence: 'once' }, '2026-11-20T00:00Z', 50).length, 1);
  t.same(seen({}, '2026-11-20T00:00Z', 0), []);
});

t.test('A note explains a time that a gap moved', async (t) => {
  t.same(seen({ scheduledFor: new Date('2026-03-01T01:30Z'), timezone: 'Europe/Berlin' }, '2026-03-28T12:00Z', 2), [
    [
      '2026-03-29T03:30:00+02:00[Europe/Berlin]',
      'The clocks go forward past 02:30 on 2026-03-29, so this runs at 03:30.',
    ],
    ['2026-03-30T02:30:00+02:00[Europe/Berlin]'],
  ]);
  t.same(seen({ recurrencePattern: '0 9 * * 5', timezone: 'Pacific/Apia' }, '2011-12-29T00:00Z', 1), [
    [
      '2011-12-31T09:00:00+14:00[Pacific/Apia]',
      'The clocks go forward past 09:00 on 2011-12-30, so this runs at 09:00 on 2011-12-31.',
    ],
  ]);
});

t.test('A note explains a time that comes twice', async (t) => {
  const twice = 'The clocks go back, and 01:30 on 2026-11-01 comes twice;';
  t.same(seen({ recurrencePattern: '30 1 * * *', timezone: 'America/New_York' }, '2026-11-01T00:00Z', 2), [
    ['2026-11-01T01:30:00-04:00[America/New_York]', `${twice} it runs once, at the first.`],
    ['2026-11-02T01:30:00-05:00[America/New_York]'],
  ]);
  t.same(seen({ recurrencePattern: '30 * * * *', timezone: 'America/New_York' }, '2026-11-01T05:00Z', 3), [
    ['2026-11-01T01:30:00-04:00[America/New_York]', `${twice} it fires every hour, so it runs both times.`],
    ['2026-11-01T01:30:00-05:00[America/New_York]', `${twice} it fires every hour, so it runs both times.`],
    ['2026-11-01T02:30:00-05:00[America/New_York]'],
  ]);
});

t.test('A note explains a month that is too short, also beside a gap', async (t) => {
  t.same(seen({ scheduledFor: new Date('2027-01-31T09:00Z'), recurrence: 'monthly' }, '2027-01-31T09:00Z', 2), [
    ['2027-02-28T09:00:00+00:00[UTC]', '2027-02 has no day 31, so this runs on its last day.'],
    ['2027-03-31T09:00:00+00:00[UTC]'],
  ]);
  const cairo = { scheduledFor: new Date('2026-12-30T22:30Z'), timezone: 'Africa/Cairo' };
  t.same(seen({ ...cairo, recurrence: 'monthly' }, '2027-04-15T00:00Z', 1), [
    [
      '2027-04-30T01:30:00+03:00[Africa/Cairo]',
      '2027-04 has no day 31, so this runs on its last day. The clocks go forward past 00:30 on 2027-04-30, so this runs at 01:30.',
    ],
  ]);
});

t.test('A note explains a first run at which the pattern does not fire, and no other run', async (t) => {
  const pattern = { recurrencePattern: '0 9 * * 1-5', timezone: 'Asia/Kolkata' };
  t.same(seen({ ...pattern, scheduledFor: new Date('2026-11-21T10:00Z') }, '2026-11-20T00:00Z', 2), [
    [
      '2026-11-21T15:30:00+05:30[Asia/Kolkata]',
      'This is the first run. The pattern itself does not fire at this time.',
    ],
    ['2026-11-23T09:00:00+05:30[Asia/Kolkata]'],
  ]);
  t.same(seen({ ...pattern, scheduledFor: new Date('2026-11-23T03:30Z') }, '2026-11-20T00:00Z', 1), [
    ['2026-11-23T09:00:00+05:30[Asia/Kolkata]'],
  ]);
  t.same(seen({ scheduledFor: new Date('2026-11-23T03:30Z') }, '2026-11-20T00:00Z', 1), [
    ['2026-11-23T03:30:00+00:00[UTC]'],
  ]);
});

t.test('The first note says how a pattern combines day of month and weekday', async (t) => {
  t.same(seen({ recurrencePattern: '0 9 13 * FRI' }, '2026-11-10T12:00Z', 2), [
    ['2026-11-13T09:00:00+00:00[UTC]', 'The pattern fires on days that match the day of the month or the weekday.'],
    ['2026-11-20T09:00:00+00:00[UTC]'],
  ]);
  t.same(seen({ recurrencePattern: '0 9 */2 * FRI' }, '2026-11-10T12:00Z', 1), [
    [
      '2026-11-13T09:00:00+00:00[UTC]',
      'The pattern fires on days that match both the day of the month and the weekday.',
    ],
  ]);
});

t.test('Pages have the notes in the language of the reader, with days as people write them', async (t) => {
  const notes = (schedule: Partial<Schedule>, after: string) => {
    const plan = {
      scheduledFor: new Date(0),
      recurrence: 'daily',
      recurrencePattern: null,
      timezone: 'UTC',
      ...schedule,
    } as const;
    return (['en', 'pt-BR'] as const).map(
      (language) => previewOccurrences(plan, new Date(after), 1, language)[0]?.note,
    );
  };
  t.same(notes({ recurrencePattern: '30 2 * * *', timezone: 'Europe/Berlin' }, '2026-03-28T12:00Z'), [
    'The clocks go forward past 02:30 on 29 March 2026, so this runs at 03:30.',
    'O relógio adianta e pula 02:30 em 29 de março de 2026, então a execução é às 03:30.',
  ]);
  t.same(notes({ scheduledFor: new Date('2026-01-31T09:00Z'), recurrence: 'monthly' }, '2026-02-01T00:00Z'), [
    'February 2026 has no day 31, so this runs on its last day.',
    'Fevereiro de 2026 não tem dia 31, então a execução é no último dia.',
  ]);
});
