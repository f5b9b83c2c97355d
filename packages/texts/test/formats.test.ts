import t from 'tap';
import { getTexts, negotiateLanguage } from '../src/index.ts';
import { parts } from '../src/parts.ts';

const now = new Date('2026-11-25T20:30:00Z');
const clock = { now, timeZone: 'Europe/Berlin' };
const { formats: en } = getTexts('en');
const { formats: pt } = getTexts('pt-BR');
const at = (text: string) => new Date(text);

t.test('A time says the day as people do, in the zone and the language of the reader', async (t) => {
  const said = (iso: string) => [en.momentOn(at(iso), clock), pt.momentOn(at(iso), clock)];
  t.same(said('2026-11-25T04:28:00Z'), ['today at 05:28', 'hoje às 05:28']);
  t.same(said('2026-11-25T23:00:00Z'), ['tomorrow at 00:00', 'amanhã às 00:00']);
  t.same(said('2026-11-26T00:00:00Z'), ['tomorrow at 01:00', 'amanhã à 01:00']);
  t.same(said('2026-11-24T09:00:00Z'), ['yesterday at 10:00', 'ontem às 10:00']);
  t.same(said('2026-03-24T13:05:00Z'), ['on 24 March at 14:05', 'em 24 de março às 14:05']);
  t.same(said('2027-01-01T08:00:00Z'), ['on 1 January 2027 at 09:00', 'em 1º de janeiro de 2027 às 09:00']);
  t.equal(`until ${en.moment(at('2026-03-24T13:05:00Z'), clock)}`, 'until 24 March at 14:05');
  t.equal(pt.moment(at('2026-03-24T13:05:00Z'), clock), '24 de março às 14:05');
  t.equal(en.moment(now, { now, timeZone: 'Asia/Tokyo' }), 'today at 05:30');
});

t.test('A label begins with a capital, and a date has no time', async (t) => {
  t.equal(en.momentLabel(at('2026-11-25T04:28:00Z'), clock), 'Today at 05:28');
  t.equal(en.momentLabel(at('2026-03-24T13:05:00Z'), clock), 'Tue 24 Mar, 14:05');
  t.equal(en.dateOn(at('2026-12-01T00:00:00Z'), clock), 'on 1 December');
  t.equal(pt.dateOn(at('2026-12-01T00:00:00Z'), clock), 'em 1º de dezembro');
  t.equal(en.longDay(now, 'UTC'), 'Wednesday 25 November 2026');
});

t.test('Near the change of clocks, tomorrow is the next day of the calendar', async (t) => {
  const late = { now: at('2026-10-24T21:30:00Z'), timeZone: 'Europe/Berlin' };
  t.equal(en.moment(at('2026-10-25T22:30:00Z'), late), 'tomorrow at 23:30');
  t.equal(en.moment(at('2026-10-25T23:30:00Z'), late), '26 October at 00:30');
  const early = { now: at('2026-10-24T22:10:00Z'), timeZone: 'Europe/Berlin' };
  t.equal(en.moment(at('2026-10-25T23:30:00Z'), early), 'tomorrow at 00:30');
});

t.test('A distance has one unit', async (t) => {
  const away = (ms: number) => en.distance(new Date(now.getTime() + ms), now);
  t.same([2 * 3_600_000, -3 * 60_000, 40_000, -40_000, 86_400_000, 0].map(away), [
    'in 2 hours',
    '3 minutes ago',
    'in under a minute',
    'just now',
    'in 1 day',
    'just now',
  ]);
  t.equal(away(3_599_000), 'in 1 hour', 'never "in 60 minutes"');
  t.equal(pt.distance(new Date(now.getTime() + 7_200_000), now), 'em 2 horas');
});

t.test('Numbers, amounts, sizes, durations and lists', async (t) => {
  t.same(
    [
      en.number(12345),
      en.money(0),
      en.money(12.941),
      en.money(0.00423),
      en.money(0.00014),
      en.money(0.000014),
      en.shortNumber(11_234_567),
      en.percent(0.6897),
    ],
    ['12,345', '$0.00', '$12.94', '$0.0042', '$0.00014', '< $0.0001', '11.2 M', '69%'],
  );
  t.same(
    [pt.number(12345), pt.money(12.94), pt.count(1, 'execução', 'execuções')],
    ['12.345', 'US$\u00a012,94', '1 execução'],
  );
  t.same([en.count(1, 'run', 'runs'), en.count(1200, 'run', 'runs')], ['1 run', '1,200 runs']);
  t.same([1, 900, 41_500, 1_600_000, 3 * 2 ** 30].map(en.bytes), ['1 byte', '900 bytes', '41 KB', '1.5 MB', '3 GB']);
  t.same([850, 12_000, 271_000, 7_500_000].map(en.duration), ['850 ms', '12 s', '4 min 31 s', '2 h 5 min']);
  t.equal(en.list(['a', 'b', 'c']), 'a, b and c');
});

t.test('The language is the best of what a browser accepts: any Portuguese, or else English', async (t) => {
  const cases: [string | undefined, string][] = [
    [undefined, 'en'],
    ['pt', 'pt-BR'],
    ['PT-pt,en;q=0.9', 'pt-BR'],
    ['de-DE,de;q=0.9,pt;q=0.3', 'pt-BR'],
    ['en;q=0.4, pt-BR;q=0.5', 'pt-BR'],
    ['en-US,en;q=0.9,pt;q=0.8', 'en'],
    ['pt;q=0', 'en'],
    ['fr', 'en'],
    [';;;q=x,,pt;q=NaN', 'en'],
  ];
  for (const [header, language] of cases) t.equal(negotiateLanguage(header), language, String(header));
});

t.test('A text takes markup inside as it is', async (t) => {
  const link = { href: '/' };
  t.same(parts`Have an account? ${link}.`, ['Have an account? ', link, '.']);
});
