import t from 'tap';
import { Sources } from '../../../src/lib/ai/web-tools/citations.ts';

function read(...cited: [url: unknown, title?: unknown][]) {
  const sources = new Sources(0);
  for (const [url, title] of cited) sources.cite(url, title);
  return sources.toArray();
}

t.test('Only plain web addresses are citations, written as browsers write them', async (t) => {
  t.same(read(['HTTPS://Example.COM:443/a b'.replace(' ', '%20'), 'A'], ['http://bücher.example/ä?q=ö#1', 'B']), [
    { url: 'https://example.com/a%20b', title: 'A' },
    { url: 'http://xn--bcher-kva.example/%C3%A4?q=%C3%B6#1', title: 'B' },
  ]);
  t.same(read([`https://example.com/"><script>'`]), [
    { url: "https://example.com/%22%3E%3Cscript%3E'", title: 'example.com' },
  ]);
  for (const url of [
    'javascript:alert(1)',
    'JavaScript://example.com/%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'file:///etc/passwd',
    'ftp://example.com/',
    'mailto:a@example.com',
    '//example.com/',
    '/relative',
    'example.com',
    '',
    'https://',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://example.com@evil.example/',
    'java\nscript:alert(1)',
    'https://example.com/\u0000',
    'https://example.com/a\r\nSet-Cookie: a=b',
    ' https://example.com/',
    'https://example.com/a b',
    'https://exa\u202Emple.com/\u0007',
    `https://example.com/${'a'.repeat(2048)}`,
    `https://example.com/${'ä'.repeat(600)}`,
    null,
    undefined,
    7,
    {},
    ['https://example.com/'],
    new URL('https://example.com/'),
  ]) {
    t.same(read([url, 'A title']), [], String(url).slice(0, 60));
  }
});

t.test('A title is one line of at most 300 characters, else the host', async (t) => {
  const titleOf = (title: unknown) => read(['https://example.com/x', title])[0]?.title;
  for (const [title, shown] of [
    ['Titan', 'Titan'],
    ['  Titan\r\n\t– a   moon \u0000\u001b[31m ', 'Titan – a moon [31m'],
    ['safe\u202Egpj.exe\u2066\u200B', 'safegpj.exe'],
    ['a\uD800b', 'a\uFFFDb'],
    ['<b>&amp;', '<b>&amp;'],
    ['👩‍🚀', '👩‍🚀'],
    ...[null, undefined, 7, {}, [], '', ' \n\u200B', '\u0000'].map((none) => [none, 'example.com']),
  ]) {
    t.equal(titleOf(title), shown, JSON.stringify(title));
  }
  t.equal(titleOf('a'.repeat(1024 * 1024)), 'a'.repeat(300));
  t.equal(titleOf(`${'a'.repeat(299)}🚀`), 'a'.repeat(299), 'no half of a character');
});

t.test('Pages are listed once, in order, at most 50, and 10,000 of them take no time', async (t) => {
  const cited = Array.from({ length: 10_000 }, (_, at): [string, string] => [
    `https://example.com/${at >> 1}`,
    `${at}`,
  ]);
  const startedAt = performance.now();
  const citations = read(...cited);
  t.ok(performance.now() - startedAt < 2000);
  t.same(
    citations,
    Array.from({ length: 50 }, (_, at) => ({ url: `https://example.com/${at}`, title: `${2 * at}` })),
  );
  t.same(read(['https://example.com'], ['https://EXAMPLE.com/']), [
    { url: 'https://example.com/', title: 'example.com' },
  ]);
});
