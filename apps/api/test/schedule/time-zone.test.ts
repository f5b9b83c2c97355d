import { isTimeZone } from '@carillon/contract/validation/time-zone';
import t from 'tap';
import { Temporal } from 'temporal-polyfill';
import { dateTimeIn, offsetAt, periodAfter, periodAt } from '../../src/schedule/time-zone.ts';
import { clock } from './oracle.ts';

const NAMES = [
  ...Intl.supportedValuesOf('timeZone'),
  ...['UTC', 'utc', 'GMT', 'GMT+0', 'Etc/GMT+5', 'Etc/GMT-14', 'EST', 'EST5EDT', 'CET', 'PRC', 'W-SU', 'US/Pacific'],
  ...['Asia/Kolkata', 'asia/kolkata', 'ASIA/KOLKATA', 'Europe/Kyiv', 'America/Argentina/Buenos_Aires', 'NZ-CHAT'],
];

t.test('every IANA name is a time zone, in any letter case, and Temporal reads it', async (t) => {
  const at = Date.UTC(2026, 6, 1);
  for (const name of NAMES.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()])) {
    const known = isTimeZone(name) && isTimeZone(name);
    if (!known || offsetAt(name, at) !== clock(name, at) - at) t.fail(name);
    t.doesNotThrow(() => Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name), name);
  }
});

const STRANGERS = {
  'offsets without a name': ['+05:00', '-0800', '+05', '+00:00', '-03:30'],
  'abbreviations that are no IANA names': ['PST', 'pst', 'IST', 'BST', 'JST', 'SystemV/PST8PDT'],
  'what no list knows': [
    '',
    ' ',
    'Europe/Nowhere',
    'Europe/Berlin ',
    ' UTC',
    'UTC+1',
    'Z',
    'undefined',
    '../etc',
    'UTC\0',
  ],
  'text around a name': [
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

t.test('the spans of a zone join without a hole, each with the offset that Intl shows', async (t) => {
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
    for (let span = periodAt(name, start); span.from < end; span = periodAfter(name, span)) {
      const [first, last] = [span.from, span.until - 60_000];
      if (span.previous !== span.offset) changes += 1;
      if (clock(name, first) - first !== span.offset || clock(name, last) - last !== span.offset) wrong.push(span);
    }
    t.same(wrong, [], name);
    t.equal(
      changes > 50,
      ['Europe/Berlin', 'Africa/Casablanca', 'Australia/Lord_Howe'].includes(name),
      `${name}: ${changes}`,
    );
  }
});
