import { isTimeZone } from '@carillon/contract/validation/formats';
import t from 'tap';
import { Temporal } from 'temporal-polyfill';
import { dateTimeIn, offsetAt, periodAfter, periodAt, readLocalTime } from '../../src/product/schedule/time-zone.ts';
import { clock } from './oracle.ts';

const NAMES = [
  ...Intl.supportedValuesOf('timeZone'),
  ...['UTC', 'utc', 'GMT', 'GMT+0', 'Etc/GMT+5', 'Etc/GMT-14', 'EST', 'EST5EDT', 'CET', 'PRC', 'W-SU', 'US/Pacific'],
  ...['Asia/Kolkata', 'asia/kolkata', 'ASIA/KOLKATA', 'Europe/Kyiv', 'America/Argentina/Buenos_Aires', 'NZ-CHAT'],
];

t.test('Every IANA name is a time zone, in any letter case, and Temporal knows it', async (t) => {
  const at = Date.UTC(2026, 6, 1);
  for (const name of NAMES.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()])) {
    const known = isTimeZone(name) && isTimeZone(name);
    if (!known || offsetAt(name, at) !== clock(name, at) - at) t.fail(name);
    t.doesNotThrow(() => Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name), name);
  }
});

const STRANGERS = {
  'Offsets without a name': ['+05:00', '-0800', '+05', '+00:00', '-03:30'],
  'Abbreviations that are no IANA names': ['PST', 'pst', 'IST', 'BST', 'JST', 'SystemV/PST8PDT'],
  'Unknown names': ['', ' ', 'Europe/Nowhere', 'Europe/Berlin ', ' UTC', 'UTC+1', 'Z', 'undefined', '../etc', 'UTC\0'],
  'Names with text around them': [
    '2026-01-01T00:00Z[Asia/Tokyo]',
    'Asia/Tokyo[u-ca=iso8601]',
    'Asia/Tokyo\n',
    'Asia/\u212Aolkata',
  ],
};
for (const [kind, names] of Object.entries(STRANGERS)) {
  t.test(`${kind} are refused`, async (t) => {
    isTimeZone('Asia/Kolkata');
    for (const name of names) {
      t.equal(isTimeZone(name), false, JSON.stringify(name));
      t.throws(() => dateTimeIn(name, 0), RangeError);
    }
  });
}

t.test('The periods of a zone join without a gap, each with the offset that Intl shows', async (t) => {
  const [start, end] = [Date.UTC(1990, 0, 1), Date.UTC(2045, 0, 1)];
  for (const name of [
    'Europe/Berlin',
    'Africa/Casablanca',
    'Pacific/Apia',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'UTC',
  ]) {
    const wrong = [];
    let changes = 0;
    for (let period = periodAt(name, start); period.from < end; period = periodAfter(name, period)) {
      const [first, last] = [period.from, period.until - 60_000];
      if (period.previous !== period.offset) changes += 1;
      if (clock(name, first) - first !== period.offset || clock(name, last) - last !== period.offset)
        wrong.push(period);
    }
    t.same(wrong, [], name);
    t.equal(
      changes > 50,
      ['Europe/Berlin', 'Africa/Casablanca', 'Australia/Lord_Howe'].includes(name),
      `${name}: ${changes}`,
    );
  }
});

t.test(
  'A local time is the instant at which clocks show it, the first one of two, or as much later as they skip',
  async (t) => {
    const HOUR = 3_600_000;
    const ZONES = ['Europe/Lisbon', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/St_Johns', 'Asia/Kolkata', 'UTC'];
    const seen = { none: 0, skipped: 0, repeated: 0 };
    for (const name of ZONES) {
      const changes = [];
      const end = Date.UTC(2013, 0, 1);
      for (let period = periodAt(name, Date.UTC(2011, 0, 1)); period.until < end; period = periodAfter(name, period))
        changes.push(period.until);
      for (const at of [Date.UTC(2026, 10, 27, 17), ...changes])
        for (let wall = clock(name, at) - 27 * HOUR; wall <= clock(name, at) + 27 * HOUR; wall += HOUR / 2) {
          const text = new Date(wall).toISOString().slice(0, 16);
          const candidates = [-14, 14].map((hours) => wall - offsetAt(name, wall + hours * HOUR));
          const before = wall - offsetAt(name, at - 1);
          const shown = candidates.filter((one) => clock(name, one) === wall).sort((a, b) => a - b);
          const deviation =
            shown.length === 0 ? 'skipped' : shown[0] === shown[1] || shown.length === 1 ? null : 'repeated';
          seen[deviation ?? 'none']++;
          const expected = { at: new Date(shown[0] ?? before), deviation };
          const read = readLocalTime(name, text);
          if (read?.at.getTime() !== expected.at.getTime() || read.deviation !== deviation)
            t.same(read, expected, `${name} ${text}`);
        }
    }
    t.ok(seen.none > 1000 && seen.skipped > 50 && seen.repeated > 10, JSON.stringify(seen));
    for (const text of ['2026-02-30T10:00', '2026-11-27', '2026-11-27T24:00', '2026-11-27T10:00Z', '10:00', ''])
      t.equal(readLocalTime('Europe/Lisbon', text), null, text);
    t.throws(() => readLocalTime('Europe/Nowhere', '2026-11-27T17:00'), RangeError);
  },
);
