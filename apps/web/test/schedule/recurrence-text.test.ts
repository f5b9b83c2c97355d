import t from 'tap';
import {
  describeRecurrence,
  parseCron,
  type TaskSchedule,
  toRecurrence,
} from '../../src/components/schedule/recurrence-text.ts';

const describe = (pattern: string) => {
  const words = parseCron(pattern);
  return words && describeRecurrence(words);
};

t.test('A pattern that words can say is said in words', async (t) => {
  const said = {
    '* * * * *': 'Every minute',
    '*/15 * * * *': 'Every 15 minutes',
    '0 * * * *': 'Every hour',
    '5 */6 * * *': 'Every 6 hours at 5 min past',
    '0 8-20 * * *': 'Every hour from 08:00 to 20:00',
    '30 2 * * *': 'Every day at 02:30',
    '30 2 * * 0-6': 'Every day at 02:30',
    '30 17 * * 1-5': 'Weekdays at 17:30',
    '30 17 * * mon-FRI': 'Weekdays at 17:30',
    '0 10 * * 0,6': 'Weekends at 10:00',
    '0 16 * * FRI': 'Fridays at 16:00',
    '0 9 * * 1,3,7': 'Mondays, Wednesdays and Sundays at 09:00',
    '0 6 1 * *': 'Day 1 of the month at 06:00',
    '0 6 31 * *': 'Day 31 of the months that have it at 06:00',
    '0 6 L * *': 'Last day of the month at 06:00',
  };
  for (const [pattern, words] of Object.entries(said)) t.equal(describe(pattern), words, pattern);
});

t.test('A pattern that words would change is not said in words', async (t) => {
  const patterns = [
    '*/7 * * * *',
    '0 */5 * * *',
    '0 9,17 * * *',
    '*/5 9 * * *',
    '0 9 1 * 1',
    '0 9 * 3 *',
    '0 9 * * 1#2',
    '0 9 * * 5L',
    '0 9 LW * *',
    '0 9 1,15 * *',
    '0 8-20/2 * * *',
    '0 * * * 1-5',
    '0 9 * * 1-5/2',
    '5/10 * * * *',
    '0 0 9 * * *',
    '@daily',
    '',
  ];
  for (const pattern of patterns) t.equal(describe(pattern), null, pattern);
});

t.test('A word of recurrence is said by the clock of the time zone of its task', async (t) => {
  const say = (schedule: Partial<TaskSchedule>) => {
    const words = toRecurrence({
      scheduledFor: '2026-03-30T22:30:00.000Z',
      recurrence: 'daily',
      recurrencePattern: null,
      timezone: 'Europe/Berlin',
      ...schedule,
    });
    return words && describeRecurrence(words);
  };
  t.equal(say({}), 'Every day at 00:30');
  t.equal(say({ recurrence: 'weekly' }), 'Tuesdays at 00:30');
  t.equal(say({ recurrence: 'weekly', scheduledFor: '2026-03-29T08:00:00Z' }), 'Sundays at 10:00');
  t.equal(say({ recurrence: 'monthly' }), 'Last day of the month at 00:30');
  t.equal(say({ recurrence: 'monthly', timezone: 'UTC' }), 'Day 30 of the month, or its last, at 22:30');
  t.equal(say({ recurrence: 'once' }), 'Once');
  t.equal(say({ recurrence: 'weekly', recurrencePattern: '0 9 1 * 1' }), null);
});
