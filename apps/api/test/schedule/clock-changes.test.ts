import t from 'tap';
import { check } from './cases.ts';

check(
  t,
  'A time in a gap moves forward by the gap',
  `
  an hour             | daily  | America/New_York    | 2026-03-01T07:30Z | 2026-03-07T12:00Z | 2026-03-08T07:30Z 2026-03-09T06:30Z
  its first minute    | daily  | Europe/Berlin       | 2026-03-01T01:00Z | 2026-03-28T12:00Z | 2026-03-29T01:00Z 2026-03-30T00:00Z
  half an hour        | daily  | Australia/Lord_Howe | 2026-09-01T15:45Z | 2026-10-02T16:00Z | 2026-10-03T15:45Z 2026-10-04T15:15Z
  at midnight         | weekly | America/Sao_Paulo   | 2018-10-28T03:30Z | 2018-11-01T00:00Z | 2018-11-04T03:30Z 2018-11-11T02:30Z
  at midnight, Egypt  | daily  | Africa/Cairo        | 2026-04-01T22:15Z | 2026-04-23T00:00Z | 2026-04-23T22:15Z 2026-04-24T21:15Z
  after Ramadan       | daily  | Africa/Casablanca   | 2026-03-01T02:30Z | 2026-03-21T12:00Z | 2026-03-22T02:30Z 2026-03-23T01:30Z
  a whole day, merged | daily  | Pacific/Apia        | 2011-12-01T19:00Z | 2011-12-29T00:00Z | 2011-12-29T19:00Z 2011-12-30T19:00Z 2011-12-31T19:00Z
  a whole day, alone  | weekly | Pacific/Apia        | 2011-12-23T19:00Z | 2011-12-24T00:00Z | 2011-12-30T19:00Z 2012-01-05T19:00Z
  two hours           | daily  | Antarctica/Troll    | 2026-03-01T01:30Z | 2026-03-28T12:00Z | 2026-03-29T01:30Z 2026-03-29T23:30Z
`,
);

check(
  t,
  'A time that comes twice runs once, at the first pass',
  `
  an hour                 | daily | America/New_York    | 2026-10-20T05:30Z | 2026-10-31T12:00Z | 2026-11-01T05:30Z 2026-11-02T06:30Z
  half an hour            | daily | Australia/Lord_Howe | 2026-03-20T14:45Z | 2026-04-04T12:00Z | 2026-04-04T14:45Z 2026-04-05T15:15Z
  across midnight         | daily | America/Havana      | 2026-10-20T04:30Z | 2026-10-31T12:00Z | 2026-11-01T04:30Z 2026-11-02T05:30Z
  asked between the two   | daily | Europe/Berlin       | 2026-10-20T00:30Z | 2026-10-25T00:45Z | 2026-10-26T01:30Z
  first run at the second | daily | Europe/Berlin       | 2026-10-25T01:30Z | 2026-10-24T00:00Z | 2026-10-25T01:30Z 2026-10-26T01:30Z
`,
);

check(
  t,
  'A pattern that names hours follows the same rules',
  `
  gap                         | 30 2 * * *     | America/New_York    | 2026-03-01T12:00Z | 2026-03-07T12:00Z | 2026-03-08T07:30Z 2026-03-09T06:30Z
  gap, a list                 | 30 1,2 * * *   | Europe/Berlin       | 2026-03-01T12:00Z | 2026-03-28T12:00Z | 2026-03-29T00:30Z 2026-03-29T01:30Z 2026-03-29T23:30Z
  gap, merged                 | */30 2-3 * * * | Europe/Berlin       | 2026-03-01T12:00Z | 2026-03-28T12:00Z | 2026-03-29T01:00Z 2026-03-29T01:30Z 2026-03-30T00:00Z
  gap, in the order of time   | 10,35 2 * * *  | Australia/Lord_Howe | 2026-09-01T12:00Z | 2026-10-03T12:00Z | 2026-10-03T15:35Z 2026-10-03T15:40Z 2026-10-04T15:10Z
  gap of a Friday             | 0 9 * * 5      | Pacific/Apia        | 2011-12-01T12:00Z | 2011-12-24T12:00Z | 2011-12-30T19:00Z 2012-01-05T19:00Z
  overlap                     | 30 2,14 * * *  | Europe/Berlin       | 2026-10-01T12:00Z | 2026-10-24T21:00Z | 2026-10-25T00:30Z 2026-10-25T13:30Z
  overlap, every second hour  | 0 */2 * * *    | Europe/Berlin       | 2026-10-01T12:00Z | 2026-10-24T21:00Z | 2026-10-24T22:00Z 2026-10-25T00:00Z 2026-10-25T03:00Z
  overlap, then none for days | 29 1,3 * * */2 | Europe/Vilnius      | 2021-10-01T12:00Z | 2021-10-31T00:29Z | 2021-11-01T23:29Z 2021-11-02T01:29Z
`,
);

check(
  t,
  'A pattern for every hour fires every hour through a change of clocks',
  `
  gap                        | */30 * * * * | America/New_York    | 2026-03-01T12:00Z | 2026-03-08T06:00Z | 2026-03-08T06:30Z 2026-03-08T07:00Z 2026-03-08T07:30Z
  overlap                    | */30 * * * * | America/New_York    | 2026-10-01T12:00Z | 2026-11-01T04:30Z | 2026-11-01T05:00Z 2026-11-01T05:30Z 2026-11-01T06:00Z 2026-11-01T06:30Z 2026-11-01T07:00Z
  half an hour of overlap    | */15 * * * * | Australia/Lord_Howe | 2026-03-01T12:00Z | 2026-04-04T14:40Z | 2026-04-04T14:45Z 2026-04-04T15:00Z 2026-04-04T15:15Z 2026-04-04T15:30Z
  a Saturday that ends twice | 30 * * * 6   | America/Sao_Paulo   | 2018-02-01T12:00Z | 2018-02-18T01:00Z | 2018-02-18T01:30Z 2018-02-18T02:30Z 2018-02-24T03:30Z
`,
);
