import t from 'tap';
import { canonicalTimeZone, isTimeZone, listTimeZones } from '../../src/validation/formats.ts';

t.test('Every time zone is listed once, by its current name', async (t) => {
  const names = listTimeZones();
  t.equal(new Set(names).size, names.length);
  for (const name of ['UTC', 'Asia/Kolkata', 'Europe/Kyiv', 'Asia/Ho_Chi_Minh', 'America/Argentina/Buenos_Aires']) {
    t.ok(names.includes(name), name);
  }
  for (const name of ['Asia/Calcutta', 'Europe/Kiev', 'Asia/Saigon']) t.notOk(names.includes(name), name);
  t.ok(names.every(isTimeZone));
  const listed = new Set(names.map(canonicalTimeZone));
  t.same(
    Intl.supportedValuesOf('timeZone').filter((name) => !listed.has(canonicalTimeZone(name))),
    [],
  );
});

t.test('The earlier and the current name are one time zone', async (t) => {
  for (const [earlier, current] of [
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['Europe/Kiev', 'Europe/Kyiv'],
  ] as const) {
    t.equal(canonicalTimeZone(earlier), canonicalTimeZone(current));
  }
});
