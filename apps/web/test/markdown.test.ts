import { getTexts } from '@carillon/texts';
import t from 'tap';
import { renderMarkdown } from '../src/components/answer/markdown.ts';

const render = (text: string) => String(renderMarkdown(text, getTexts('en')));

t.test('HTML, scripts, images and links that do not lead to the web are text', async (t) => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '![x](https://evil.example/pixel.png)',
    '[x](javascript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '[x](//evil.example)',
    '<https://example.com" onmouseover="alert(1)>',
    '[x]: javascript:alert(1)\n[x]',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '`<b>`',
    '```"><script>alert(1)</script>\nx\n```',
  ];
  for (const text of hostile) {
    const markup = render(text);
    t.notMatch(markup, /<(script|img|b|svg|iframe)\b/i, text);
    t.notMatch(markup, /<[^>]+\s(on\w+|src|style)=/i, text);
    t.notMatch(markup, /href="(?!https?:\/\/)/i, text);
  }
});

t.test('A link to the web tells its target nothing', async (t) => {
  t.match(
    render('[x](https://example.com/a?b=1&c=2)'),
    '<a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">x</a>',
  );
});

t.test('Headings continue those of the page, and leave out no level', async (t) => {
  const levels = (text: string) => [...render(text).matchAll(/<h(\d)>/g)].map(([, level]) => Number(level));
  t.same(levels('# a\n## b\n### c'), [3, 4, 5]);
  t.same(levels('### a\n## b\n##### c\n# d'), [3, 3, 4, 3]);
  t.same(levels('# a\n## b\n### c\n#### d\n##### e\n###### f'), [3, 4, 5, 6, 6, 6]);
});

t.test('Columns of numbers are aligned by a class, which the policy allows', async (t) => {
  const markup = render('| a | b |\n| --- | ---: |\n| x | 1 |');
  t.match(markup, '<th class="num">b</th>');
  t.match(markup, '<td class="num">1</td>');
  t.notMatch(markup, 'style');
});

t.test('A table that short rows would fill up to thousands of cells stays text', async (t) => {
  const columns = 2500;
  const markup = render(`${'|a'.repeat(columns)}|\n${'|-'.repeat(columns)}|\n${'|x\n'.repeat(3000)}`);
  t.notMatch(markup, '<table');
  t.ok(markup.length < 30_000, `${markup.length}`);
  const many = render(`${`${'|a'.repeat(30)}|\n${'|-'.repeat(30)}|\n${'|x\n'.repeat(31)}`}\n`.repeat(90));
  t.equal(many.match(/<table/g)?.length, 5);
});
