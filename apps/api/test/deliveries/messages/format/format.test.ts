import t from 'tap';
import { cutBlocks, divideBlocks } from '../../../../src/product/deliveries/messages/format/cut.ts';
import { buildLink } from '../../../../src/product/deliveries/messages/format/links.ts';
import { parseMarkdown, parsePlain } from '../../../../src/product/deliveries/messages/format/markdown.ts';
import { describeSources, fitMessage } from '../../../../src/product/deliveries/messages/format/message-blocks.ts';
import {
  cleanText,
  countBytes,
  countCodePoints,
  cutText,
  takeCharacters,
} from '../../../../src/product/deliveries/messages/format/text.ts';
import { type Block, toPlainText } from '../../../../src/product/deliveries/messages/format/tree.ts';
import { buildMessage } from '../support/target.ts';

const measure = (blocks: Block[]) => toPlainText(blocks).length;
const url = 'https://carillon.example.com/executions/7';
const language = 'en';
const reader = { language, timezone: null } as const;

t.test('an answer becomes blocks without formatting characters', async (t) => {
  const blocks = parseMarkdown(
    '# Title\n\nSome **bold *both***, `code` and <b>text</b>.\n\n3. three\n4. four\n   - nested\n\n```js\nlet a;\n```\n\n> said\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n![a cat](https://example.com/cat.png)',
  );
  t.same(
    blocks.map(({ type }) => type),
    ['heading', 'paragraph', 'list', 'code', 'quote', 'table', 'paragraph'],
  );
  t.equal(
    toPlainText(blocks),
    'Title\n\nSome bold both, code and <b>text</b>.\n\n3. three\n4. four\n   - nested\n\nlet a;\n\n> said\n\na  b\n-  -\n1  2\n\na cat (example.com): https://example.com/cat.png',
  );
  t.same(parsePlain('**a**\r\nb\n\n\n<c>'), [
    {
      type: 'paragraph',
      inlines: [{ type: 'text', text: '**a**' }, { type: 'break' }, { type: 'text', text: 'b' }],
    },
    { type: 'paragraph', inlines: [{ type: 'text', text: '<c>' }] },
  ]);
});

t.test('a link shows where it leads', async (t) => {
  const shown = (address: string, label: string) => {
    const link = buildLink(address, label);
    return link.type === 'link' ? link.text : `no link: ${(link as { text: string }).text}`;
  };
  t.equal(shown('https://example.com/a', 'the page'), 'the page (example.com)');
  t.equal(shown('https://evil.example/', 'https://bank.example'), 'https://evil.example/');
  t.equal(shown('https://evil.example/', 'bank.example'), 'https://evil.example/');
  t.equal(shown('https://bank.example@evil.example/', 'sign in'), 'sign in (evil.example)');
  t.equal(shown('https://xn--80ak6aa92e.com/', 'sign in'), 'sign in (xn--80ak6aa92e.com)');
  t.equal(shown('https://аррӏе.com/', 'sign in'), 'sign in (xn--80ak6aa92e.com)');
  t.equal(shown('https://example.com/', ''), 'https://example.com/');
  t.equal(shown('https://[::1]/a(b)', 'x'), 'x ([::1])');
  t.same(buildLink('https://example.com/a_(b)?c=<|>#"', 'x'), {
    type: 'link',
    url: 'https://example.com/a_%28b%29?c=%3C%7C%3E#%22',
    text: 'x (example.com)',
  });
  t.match(shown('https://example.com/@everyone/@Channel/@ann', ''), 'https://example.com/%40everyone/%40Channel/@ann');
  t.equal(shown('mailto:a@example.com?bcc=b@example.com', 'write'), 'no link: write (a@example.com)');
  for (const address of ['javascript:alert(1)', 'tg://user?id=1', '/path', 'file:///etc/passwd']) {
    t.equal(shown(address, 'x'), 'no link: x', address);
  }
  t.equal(shown(`https://example.com/${'a'.repeat(2000)}`, 'x'), 'no link: x (example.com)');
});

t.test('an answer is cut before its sources, which take a third of the room at most', async (t) => {
  const answer = parseMarkdown('A sentence of the answer. '.repeat(100));
  const end = describeSources({
    reader,
    citations: Array.from({ length: 7 }, (_, at) => ({
      url: `https://example.com/${at}`,
      title: `Page ${at} ${'x'.repeat(200)}`,
    })),
  });
  const show = (max: number, blocks = answer) => toPlainText(cutBlocks(blocks, { max, measure, url, language, end }));
  const count = (text: string) => (text.match(/https:\/\/example\.com/g) ?? []).length;
  t.equal(count(show(10_000)), 5, 'at most five');
  for (const [max, sources] of [
    [2900, 5],
    [1500, 3],
    [600, 1],
    [300, 0],
  ] as const) {
    const text = show(max);
    t.ok(text.length <= max && text.startsWith('A sentence'), `${max}`);
    t.equal(count(text), sources);
    t.match(text, /continues in Carillon/);
    t.equal(text.includes('Sources'), sources > 0);
  }
  t.equal(show(2900, parseMarkdown('Short.')).split('\n')[0], 'Short.');
  t.equal(describeSources({ citations: [], reader }), null);
  const citations = [{ url: 'https://example.com', title: 'Page' }];
  const items = [buildMessage({ citations })];
  const fit = (given: object) => toPlainText(fitMessage(buildMessage(given), { max: 10_000, measure }));
  t.match(fit({ citations }), /Sources\n\n- Page \(example\.com\): https:\/\/example\.com\/$/);
  t.notMatch(fit({ markdown: null, items }), 'Sources');
});

t.test('control characters, marks of direction and halves of characters are left out', async (t) => {
  t.equal(
    cleanText('a\u0000b\u001b[31m\r\nc\u202ed\u2066e\u200ff\u2028g\ttab \ud83d.'),
    'ab[31m\ncdef\ng\ttab \ufffd.',
  );
  t.equal(toPlainText(parseMarkdown('a&#8238;b&#0;')), 'ab\ufffd');
});

t.test('a text is cut between characters as readers see them', async (t) => {
  const family = '👩‍👩‍👧‍👦';
  t.equal(takeCharacters(`ab${family}c`, 2 + family.length), `ab${family}`);
  t.equal(takeCharacters(`ab${family}c`, 1 + family.length), 'ab');
  t.equal(takeCharacters('e\u0301e\u0301', 3), 'e\u0301');
  t.equal(takeCharacters(`${'a'.repeat(200)}😀`, 201), 'a'.repeat(200));
  // One character with thousands of accents.
  t.equal(takeCharacters(`e${'\u0301'.repeat(5000)}`, 100).length, 100);
  t.ok(takeCharacters(`😀${'\u{1f3fb}\u200d'.repeat(100)}`, 99).isWellFormed());
  t.equal(cutText('abcdef', 6), 'abcdef');
  t.equal(cutText('abcdefg', 6), 'abcde…');
  t.equal(cutText('😀😀😀😀', 3, countCodePoints), '😀😀…');
  t.equal(cutText('äöüäöü', 8, countBytes), 'äö…');
});

t.test('blocks are cut at every length with what is open closed, and a link to the rest', async (t) => {
  const answer = parseMarkdown(
    '# Title\n\nSome **bold text** 😀 and [a link](https://example.com/).\n\n- one\n  - two `code`\n- three\n\n```\nline 1\nline 2\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote',
  );
  const whole = measure(answer);
  t.equal(cutBlocks(answer, { max: whole, measure, url, language }), answer);
  for (let max = 100; max < whole; max++) {
    const text = toPlainText(cutBlocks(answer, { max, measure, url, language }));
    t.ok(text.length <= max, `${max}`);
    t.ok(text.endsWith(`… (continues in Carillon: ${url})`), text);
    t.ok(text.isWellFormed());
    t.notMatch(text, /a link(?! \(example\.com\): https:\/\/example\.com\/)/);
  }
});

t.test('blocks are divided into parts without a loss', async (t) => {
  const code = Array.from({ length: 300 }, (_, at) => `line ${at}`).join('\n');
  const parts = divideBlocks(parseMarkdown(`start\n\n\`\`\`\n${code}\n\`\`\`\n\nend`), 500, measure);
  t.ok(parts.every((part) => measure(part) <= 500));
  const texts = parts.map(toPlainText).join('\n');
  t.same(texts.match(/\S+/g), `start\n${code}\nend`.match(/\S+/g));
  const letters = divideBlocks(parseMarkdown('a'.repeat(1000)), 300, measure);
  t.equal(letters.map(toPlainText).join(''), 'a'.repeat(1000));
});

const row = (cell: string, columns: number) => `|${`${cell}|`.repeat(columns)}\n`;
const table = (columns: number, lines: number) => row('a', columns) + row('-', columns) + '|x\n'.repeat(lines);
const countTables = (text: string) => parseMarkdown(text).filter(({ type }) => type === 'table').length;

t.test(
  'A table of more than 30 columns or 1,000 cells stays text, as do tables beyond 5,000 cells together',
  async (t) => {
    t.same(
      parseMarkdown(table(30, 32)).map(({ type }) => type),
      ['table'],
      '990 cells',
    );
    t.equal(countTables(table(31, 1)), 0);
    t.equal(countTables(table(30, 33)), 0, '1,020 cells');
    t.equal(countTables(`${table(1, 999)}\ntext`), 1);
    t.equal(countTables(`${table(1, 1000)}\ntext`), 0);
    t.equal(countTables(`${table(30, 31)}\n`.repeat(40)), 5);
    t.equal(countTables(`${table(2, 1)}# A heading ends the table\n${'line\n'.repeat(2000)}`), 1);
    const [wide, after] = parseMarkdown(`${table(40, 2)}\nafter`);
    t.match(toPlainText([wide as Block]), /^\|a\|a.*\n\|-\|-.*\n\|x\n\|x$/, 'no line of it is lost');
    t.equal(toPlainText([after as Block]), 'after');
    t.equal(toPlainText(parseMarkdown(`> ${table(31, 1)}`)).match(/a/g)?.length, 31, 'in a quote too');
  },
);

t.test('Cutting measures each block once', async (t) => {
  let measured = 0;
  const count = (blocks: Block[]) => {
    const text = toPlainText(blocks);
    measured += text.length;
    return text.length;
  };
  const texts = {
    paragraphs: 'some words\n\n',
    items: '- an item\n',
    lines: 'a line\n',
    quotes: '> - word\n',
    codes: '`a` b ',
  };
  for (const [name, part] of Object.entries(texts)) {
    const blocks = parseMarkdown(part.repeat(Math.floor(20_000 / part.length)));
    measured = 0;
    const cut = cutBlocks(blocks, { max: 10_000, measure: count, url, language });
    const total = measured;
    t.ok(measure(cut) > 9800, `${name}: the room is used`);
    t.ok(measure(cut) <= 10_000);
    t.ok(total < 80_000, `${name}: ${total} characters were measured`);
  }
});

t.test('texts made to be slow take little time', async (t) => {
  const texts = [
    '['.repeat(50_000),
    '> '.repeat(50_000),
    '*a '.repeat(30_000),
    '`'.repeat(100_000),
    '- '.repeat(50_000),
  ];
  for (const text of [
    ...texts,
    '<'.repeat(100_000),
    'http://'.repeat(15_000),
    '|a'.repeat(50_000),
    '![a]('.repeat(20_000),
    table(2500, 3000),
    `${table(100, 200)}\n`.repeat(50),
    `${table(30, 31)}\n`.repeat(200),
    `> ${table(100, 300)}\n`.repeat(20),
    Array.from({ length: 500 }, (_, at) => `${'  '.repeat(at % 60)}- a\n`).join(''),
    `${'>'.repeat(60)}a\n`.repeat(500),
    Array.from({ length: 3000 }, (_, at) => `[a${at}]: https://b.example/${at}`).join('\n'),
    `[a]: https://b.example\n\n${'[a] '.repeat(10_000)}`,
    `\`${'a'.repeat(50_000)}\``,
    'a\n'.repeat(20_000),
  ]) {
    const start = process.cpuUsage();
    cutBlocks(parseMarkdown(text), { max: 4000, measure, url, language });
    const { user, system } = process.cpuUsage(start);
    const ms = (user + system) / 1000;
    t.ok(ms < 2000, `${text.slice(0, 5)}: ${Math.round(ms)} ms`);
  }
});
