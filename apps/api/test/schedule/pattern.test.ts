import t from 'tap';
import { checkPattern, combineDays, nearestRecurrence, parsePattern } from '../../src/product/schedule/pattern.ts';

t.test('Five fields of standard cron, with names and the signs that croner documents, are accepted', async (t) => {
  for (const pattern of [
    ...[
      '* * * * *',
      '*/5 * * * *',
      '0 9 * * 1-5',
      '0 9 * * MON-fri',
      '0 0 1 jan *',
      '0,30 8-18/2 1,15 * 0',
      '00 09 * * 7',
    ],
    ...[
      '0 9 L * *',
      '0 9 LW * *',
      '0 9 15W * *',
      '0 9 * * 5#2',
      '0 9 * * 5L',
      '0 12 1 * +MON',
      '0 9 ? * ?',
      '  0\t9 * * *  ',
    ],
    ...['0 0 29 2 *', '0 0 29 2 +1', '0 0 31 1,2 *', `${Array.from({ length: 60 }, (_, i) => i).join()} * * * *`],
  ]) {
    t.equal(checkPattern(pattern, 'Europe/Berlin'), null, pattern);
  }
});

t.test('Another number of fields is refused: no seconds, no years, no nicknames', async (t) => {
  for (const pattern of ['', ' ', '* * * *', '0 0 9 * * *', '0 0 9 * * * 2027', '@daily', '@every 5m', 'every day']) {
    t.match(checkPattern(pattern, 'UTC'), /exactly five fields: minute, hour/, pattern);
  }
});

t.test('An invalid field is named in the error', async (t) => {
  const wrong = {
    minute: [
      '60 * * * *',
      '5/15 * * * *',
      '*/0 * * * *',
      '1,,2 * * * *',
      '-1 * * * *',
      '1.5 * * * *',
      '٣ * * * *',
      '0x1 * * * *',
    ],
    hour: ['0 24 * * *', '0 22-6 * * *', '0 9am * * *', '0 L * * *'],
    'day of month': ['0 9 0 * *', '0 9 32 * *', '0 9 1-5W * *', '0 9 L-3 * *', '0 9 W * *'],
    month: ['0 9 * 13 *', '0 9 * FOO *', '0 9 * JANFEB *'],
    'day of week': ['0 9 * * 8', '0 9 * * 1#6', '0 9 * * L', '0 9 * * +', '0 0 1 1 @daily', '0 9 * * SUN6'],
  };
  for (const [field, patterns] of Object.entries(wrong)) {
    for (const pattern of patterns) t.match(checkPattern(pattern, 'UTC'), `The ${field} field (`, pattern);
  }
});

t.test('A pattern that never fires is refused', async (t) => {
  for (const pattern of [
    '0 0 31 2 *',
    '0 0 30 2 *',
    '0 0 31 4,6,9,11 *',
    '0 0 31W 2 *',
    '0 0 31 2 */2',
    '0 0 */30 1 +1#2',
    '0 0 8-31 2 +1#1',
    '0 0 LW * +6',
  ]) {
    t.equal(checkPattern(pattern, 'UTC'), 'This pattern never fires.', pattern);
  }
});

t.test('An unknown zone and a pattern that is too long are refused, the latter unparsed', async (t) => {
  t.match(checkPattern('0 9 * * *', 'Europe/Nowhere'), /time zone/);
  t.match(checkPattern(`${'1,'.repeat(1e6)}1 * * * *`, 'UTC'), /at most 256 characters/);
});

t.test('The nearest recurrence is monthly for days of the month, else weekly for weekdays, else daily', async (t) => {
  const words = {
    daily: ['0 9 * * *', '*/5 * * * *', '0 9 * 6 *', '0 9 ? * ?', '0 9 1-31 * *', '0 9 * * 0-6', '0 9 */1 * *'],
    weekly: ['0 9 * * 1', '0 9 * * 1-5', '0 9 * * MON,fri', '0 9 * * +2', '0 9 * 6 7'],
    monthly: [
      '0 9 1 * *',
      '0 9 1 * 1',
      '0 9 L * *',
      '0 9 LW * *',
      '0 9 15W * *',
      '0 9 */2 * *',
      '0 9 * * 1#1',
      '0 9 * * 5L',
    ],
  };
  for (const [word, patterns] of Object.entries(words)) {
    for (const pattern of patterns) t.equal(nearestRecurrence(pattern), word, pattern);
  }
  t.throws(() => nearestRecurrence('0 25 * * *'));
});

/** The local dates on which a pattern fires in one year. */
function dates(pattern: string, year: number): string[] {
  const found: string[] = [];
  let wall = parsePattern(pattern).next(Date.UTC(year, 0, 1) - 1);
  while (wall !== null && wall < Date.UTC(year + 1, 0, 1)) {
    found.push(new Date(wall).toISOString().slice(5, 10));
    wall = parsePattern(pattern).next(wall);
  }
  return found;
}

t.test('The signs beyond standard cron mean what croner documents', async (t) => {
  t.same(dates('0 9 L 1-3 *', 2028), ['01-31', '02-29', '03-31']);
  t.same(dates('0 9 LW 1-2 *', 2027), ['01-29', '02-26'], 'last working day');
  t.same(dates('0 9 15W 5-8 *', 2027), ['05-14', '06-15', '07-15', '08-16'], 'working day nearest to the 15th');
  t.same(dates('0 9 1W 5 *', 2027), ['05-03'], 'never in another month');
  t.same(dates('0 9 * 1-2 5#2', 2027), ['01-08', '02-12'], 'second Friday');
  t.same(dates('0 9 * 1-2 FRI#L', 2027), ['01-29', '02-26'], 'last Friday');
  t.same(dates('0 9 13 * +FRI', 2026), ['02-13', '03-13', '11-13'], 'Friday the 13th');
});

t.test('Day of month and weekday mean either, and both where one of the fields begins with a star', async (t) => {
  t.same(dates('0 9 13 2 FRI', 2026), ['02-06', '02-13', '02-20', '02-27'], 'the 13th or a Friday');
  t.same(dates('0 9 1-3 2 1', 2026), ['02-01', '02-02', '02-03', '02-09', '02-16', '02-23']);
  t.same(dates('0 9 */2 2 1', 2026), ['02-09', '02-23'], 'a Monday with an odd date');
  t.same(dates('0 9 */10,2 2 1', 2026), ['02-02'], 'a list that begins with a star');
  t.same(dates('0 9 ?/2 2 1', 2026), ['02-09', '02-23']);
  t.same(dates('0 9 1-3 2 */2', 2026), ['02-01', '02-03'], 'a Sunday, Tuesday, Thursday or Saturday');
  t.same(dates('0 9 L 1-5 */2', 2026), ['01-31', '02-28', '03-31', '04-30', '05-31']);
  t.same(dates('0 9 15 1-2 */1', 2026), ['01-15', '02-15']);
  t.same(dates('0 9 15 1-2 0-6', 2026).length, 59, 'a range of all weekdays is no star');
  for (const [pattern, combined] of [
    ['0 9 13 * FRI', 'either'],
    ['0 9 L * 1', 'either'],
    ['0 9 1-31 * 1', 'either'],
    ['0 9 */2 * 1', 'both'],
    ['0 9 1 * */2', 'both'],
    ['0 9 1 * +1', 'both'],
    ['0 9 1 * *', null],
    ['0 9 * * 1-5', null],
    ['0 9 */1 * 1-5', null],
    ['* * * * *', null],
  ] as const) {
    t.equal(combineDays(pattern), combined, pattern);
  }
});

t.test('A pattern that has left the cache still fires at the same times', async (t) => {
  const wanted = parsePattern('7 9 * * *').next(0);
  for (let i = 0; i < 3000; i += 1) parsePattern(`${i % 60} ${Math.floor(i / 60) % 24} * * ${Math.floor(i / 1440)}`);
  t.equal(parsePattern('7 9 * * *').next(0), wanted);
});
