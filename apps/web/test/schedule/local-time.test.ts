import t from 'tap';
import { formatLocalTime, parseLocalTime, toInstant, toLocalTime } from '../../src/components/schedule/local-time.ts';

const at = (date: string, time: string, zone: string) => toInstant(date, time, zone)?.toISOString();

t.test('A local time is the instant at which clocks show it, the first one if they show it twice', async (t) => {
  t.equal(at('2026-07-01', '12:00', 'Europe/Berlin'), '2026-07-01T10:00:00.000Z');
  t.equal(at('2026-10-25', '02:30', 'Europe/Berlin'), '2026-10-25T00:30:00.000Z');
  t.equal(at('2026-11-01', '01:30', 'America/New_York'), '2026-11-01T05:30:00.000Z');
  t.equal(at('2026-01-01', '00:00', 'Asia/Kolkata'), '2025-12-31T18:30:00.000Z');
  t.equal(at('2026-01-01', '00:00', 'Pacific/Kiritimati'), '2025-12-31T10:00:00.000Z');
});

t.test('A local time that clocks skip is as much later as they skip', async (t) => {
  t.equal(at('2026-03-29', '02:30', 'Europe/Berlin'), '2026-03-29T01:30:00.000Z');
  t.equal(at('2026-10-04', '02:15', 'Australia/Lord_Howe'), '2026-10-03T15:45:00.000Z');
});

t.test('A text that is no time has no instant', async (t) => {
  for (const [date, time] of [
    ['2026-02-30', '09:00'],
    ['2026-13-01', '09:00'],
    ['', '09:00'],
    ['2026-01-01', '24:01'],
    ['2026-01-01', ''],
    ['+012026-01-01', '09:00'],
  ] as const) {
    t.equal(toInstant(date, time, 'UTC'), null, `${date} ${time}`);
  }
});

t.test('An instant is shown with its day of the week', async (t) => {
  t.match(toLocalTime(new Date('2026-11-22T23:30:00Z'), 'Europe/Berlin'), {
    date: '2026-11-23',
    time: '00:30',
    day: 23,
    weekday: 1,
  });
  t.match(toLocalTime(new Date('2026-11-22T12:00:00Z'), 'UTC'), { weekday: 7 });
});

t.test('The value of a field is read with or without seconds, and other texts are refused', async (t) => {
  const read = (text: string) => parseLocalTime(text, 'Europe/Berlin')?.toISOString();
  t.equal(read('2026-11-20T10:00'), '2026-11-20T09:00:00.000Z');
  t.equal(read('2026-11-20T10:00:00'), '2026-11-20T09:00:00.000Z');
  for (const text of ['', '2026-11-20', '2026-02-30T10:00', 'tomorrow']) t.equal(read(text), undefined, text);
  t.equal(formatLocalTime(new Date('2026-11-20T09:00:00Z'), 'Europe/Berlin'), '2026-11-20T10:00');
});
