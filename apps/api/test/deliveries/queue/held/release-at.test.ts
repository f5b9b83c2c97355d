import t from 'tap';
import { computeReleaseAt, type Holding } from '../../../../src/product/deliveries/queue/held/release-at.ts';

const CHANNEL: Holding = {
  quiet: null,
  minIntervalMinutes: null,
  digest: 'off',
  digestHour: null,
  digestTimezone: null,
  lastSentAt: null,
};
/** What was held since the first instant, at the second one. */
const release = (given: Partial<Holding>, since: string, now = since) =>
  computeReleaseAt({ ...CHANNEL, ...given }, new Date(since), new Date(now))
    .toISOString()
    .replace(':00.000Z', 'Z');

const quiet = (from: string, to: string, timezone = 'UTC') => ({ quiet: { from, to, timezone } });

t.test('A channel without quiet hours, interval or digest sends at once', async (t) => {
  t.equal(release({}, '2026-11-20T10:00Z'), '2026-11-20T10:00Z');
});

t.test('Quiet hours end at their local time, over midnight too', async (t) => {
  const night = quiet('22:00', '07:00', 'Europe/Berlin');
  t.equal(release(night, '2026-11-20T20:59Z'), '2026-11-20T20:59Z', 'the last minute before them');
  t.equal(release(night, '2026-11-20T21:00Z'), '2026-11-21T06:00Z');
  t.equal(release(night, '2026-11-20T23:30Z'), '2026-11-21T06:00Z');
  t.equal(release(night, '2026-11-21T05:59Z'), '2026-11-21T06:00Z');
  t.equal(release(night, '2026-11-21T06:00Z'), '2026-11-21T06:00Z', 'the first minute after them');
  const noon = quiet('12:00', '14:30', 'Asia/Kolkata');
  t.equal(release(noon, '2026-11-20T06:30Z'), '2026-11-20T09:00Z');
  t.equal(release(noon, '2026-11-20T06:29Z'), '2026-11-20T06:29Z');
  t.equal(release(noon, '2026-11-20T09:00Z'), '2026-11-20T09:00Z');
  t.equal(release(quiet('09:00', '09:00'), '2026-11-20T09:00Z'), '2026-11-20T09:00Z', 'equal times are none');
});

t.test('Quiet hours follow changes of the clock', async (t) => {
  const night = quiet('22:00', '07:00', 'Europe/Berlin');
  t.equal(release(night, '2026-03-28T22:00Z'), '2026-03-29T05:00Z', 'a short night');
  t.equal(release(night, '2026-10-24T22:00Z'), '2026-10-25T06:00Z', 'a long night');
  t.equal(
    release(quiet('22:00', '02:30', 'Europe/Berlin'), '2026-03-28T22:00Z'),
    '2026-03-29T01:00Z',
    'the end is skipped',
  );
  const repeated = quiet('22:00', '02:30', 'Europe/Berlin');
  t.equal(release(repeated, '2026-10-24T22:00Z'), '2026-10-25T00:30Z', 'the end comes twice');
  t.equal(release(repeated, '2026-10-25T00:45Z'), '2026-10-25T00:45Z');
  t.equal(release(repeated, '2026-10-25T01:00Z'), '2026-10-25T01:30Z', 'and they begin again with the repeated hour');
});

t.test('An interval counts from what was sent last, and ends after quiet hours', async (t) => {
  const given = { minIntervalMinutes: 30, lastSentAt: new Date('2026-11-20T10:00Z') };
  t.equal(release(given, '2026-11-20T10:00Z'), '2026-11-20T10:30Z');
  t.equal(release(given, '2026-11-20T10:29Z'), '2026-11-20T10:30Z');
  t.equal(release(given, '2026-11-20T10:31Z'), '2026-11-20T10:31Z');
  t.equal(release({ ...given, lastSentAt: null }, '2026-11-20T10:00Z'), '2026-11-20T10:00Z');
  t.equal(release({ ...given, ...quiet('10:15', '11:00') }, '2026-11-20T10:10Z'), '2026-11-20T11:00Z');
});

t.test('A digest is sent at the next full hour, or at its local hour', async (t) => {
  t.equal(release({ digest: 'hourly' }, '2026-11-20T10:17Z'), '2026-11-20T11:00Z');
  t.equal(release({ digest: 'hourly' }, '2026-11-20T11:00Z'), '2026-11-20T12:00Z');
  const kolkata = { digest: 'hourly', digestTimezone: 'Asia/Kolkata' } as const;
  t.equal(release(kolkata, '2026-11-20T10:17Z'), '2026-11-20T10:30Z');
  t.equal(release({ digest: 'daily' }, '2026-11-20T10:17Z'), '2026-11-21T08:00Z');
  const daily = { digest: 'daily', digestHour: 7, digestTimezone: 'America/New_York' } as const;
  t.equal(release(daily, '2026-11-20T11:59Z'), '2026-11-20T12:00Z');
  t.equal(release(daily, '2026-11-20T12:00Z'), '2026-11-21T12:00Z');
  t.equal(release(daily, '2026-10-31T12:00Z'), '2026-11-01T12:00Z', 'the clock goes back');
  t.equal(release(daily, '2026-03-07T13:00Z'), '2026-03-08T11:00Z', 'the clock goes forward');
  const skipped = { ...daily, digestHour: 2 };
  t.equal(release(skipped, '2026-03-07T13:00Z'), '2026-03-08T07:00Z', 'an hour that is skipped');
  t.equal(release({ ...daily, digestHour: 0 }, '2026-11-20T12:00Z'), '2026-11-21T05:00Z');
  t.equal(release({ ...daily, ...quiet('00:00', '13:00') }, '2026-11-20T11:00Z'), '2026-11-20T13:00Z');
});

t.test('What was due while no process ran is sent at once', async (t) => {
  t.equal(release({ digest: 'hourly' }, '2026-11-20T10:17Z', '2026-11-20T12:34Z'), '2026-11-20T12:34Z');
  t.equal(release({ digest: 'daily' }, '2026-11-20T10:17Z', '2026-11-22T09:00Z'), '2026-11-22T09:00Z');
  t.equal(release(quiet('22:00', '07:00'), '2026-11-20T22:30Z', '2026-11-21T09:00Z'), '2026-11-21T09:00Z');
});
