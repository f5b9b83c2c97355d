import t from 'tap';
import { includesTag, parseEntityTags } from '../../../src/platform/http/etag.ts';

const strong = (...values: string[]) => values.map((value) => ({ isWeak: false, opaque: `"${value}"` }));

t.test('A list of ETags is read by the grammar of RFC 9110', (t) => {
  for (const [header, expected] of [
    ['"a"', strong('a')],
    ['""', strong('')],
    ['"a", "b"', strong('a', 'b')],
    ['"a","b"\t,\t"c"', strong('a', 'b', 'c')],
    [', ,"a",, "b" ,', strong('a', 'b')],
    ['"a,b", "W/", "*"', strong('a,b', 'W/', '*')],
    ['"é!#~\\"', strong('é!#~\\')],
    ['W/"a", "b"', [{ isWeak: true, opaque: '"a"' }, ...strong('b')]],
    ['*', '*'],
    [' * ', '*'],
  ] as const) {
    t.same(parseEntityTags(header), expected, header);
  }
  t.end();
});

t.test('Anything else is malformed', (t) => {
  for (const header of [
    '',
    ' ',
    ',',
    'a',
    "'a'",
    '“a”',
    '"a',
    'a"',
    '"a" "b"',
    '"a";"b"',
    '"a" x',
    'x "a"',
    '"a b"',
    '"a\u007f"',
    '"a\u0000"',
    '"a""b"',
    'w/"a"',
    'W/ "a"',
    'W/a',
    'W/*',
    '*, "a"',
    '"a", *',
    '**',
  ]) {
    t.equal(parseEntityTags(header), null, JSON.stringify(header));
  }
  t.end();
});

t.test('The suffix that a compressing proxy adds does not count', (t) => {
  t.same(parseEntityTags('"a-gzip", W/"b-zstd", "c-br", "d-deflate"'), [
    ...strong('a'),
    { isWeak: true, opaque: '"b"' },
    ...strong('c', 'd'),
  ]);
  t.same(parseEntityTags('"a-gzip-1", "-GZIP"'), strong('a-gzip-1', '-GZIP'));
  t.end();
});

t.test('Headers of any length are read in one pass', (t) => {
  const tags = Array.from({ length: 10_000 }, (_, i) => `"${i}"`);
  const parsed = parseEntityTags(tags.join(', '));
  t.ok(parsed && includesTag(parsed, '"9999"'));
  for (const part of [' ', ',', '"', '""', 'W/', '-gzip', '"a" ']) {
    t.equal(parseEntityTags(`"a"${part.repeat(100_000)}x`), null, part);
  }
  t.end();
});
