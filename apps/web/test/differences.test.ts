import { getTexts } from '@carillon/texts';
import { parse } from 'node-html-parser';
import t from 'tap';
import { renderAnswerDifferences } from '../src/components/answer/answer-differences.ts';

const compare = (before: string, after: string) =>
  parse(String(renderAnswerDifferences(before, after, getTexts('en'))));

t.test('What is read is compared, without the marks of Markdown', async (t) => {
  const before =
    '## Weather\n\n| City | Now |\n|---|---:|\n| Berlin | **10 °C** |\n\n```js\nrun()\n```\n\n- [Rain](https://a.example)\n';
  const after = '# Weather\n\n\n| City | Now |\n|:--|--|\n| Berlin | 12 °C |\n\n```\nrun()\n```\n\n* Rain\n';
  const document = compare(before, after);
  t.match(document.text, /1 line changed, 0 added, 0 removed\./);
  t.equal(document.querySelector('.changed-line')?.innerHTML, 'Berlin · <del>10</del><ins>12</ins> °C');
  t.notMatch(document.text, /\||---|```|##|\*\*|https/);
});

t.test('Answers that only look different say so', async (t) => {
  t.match(compare('# A\n\n- b', '## A\n* **b**').text, /Only the formatting differs\./);
});

t.test('A line that became another one stands as two, and unchanged parts are folded', async (t) => {
  const lines = Array.from({ length: 20 }, (_, at) => `Line number ${at}`);
  const before = [...lines, 'Rain tomorrow', ...lines].join('\n\n');
  const after = [...lines, 'Sun', 'Line that is new', ...lines].join('\n\n');
  const document = compare(before, after);
  t.same(
    document.querySelectorAll('summary').map(({ text }) => text),
    ['18 unchanged lines', '18 unchanged lines'],
  );
  t.equal(document.querySelectorAll('details span').length, 36, 'all of them are on the page');
  const shown = document.querySelectorAll('.diff > *').filter(({ tagName }) => tagName !== 'DETAILS');
  t.same(
    shown.map(({ tagName, text }) => `${tagName} ${text}`),
    [
      'SPAN Line number 18',
      'SPAN Line number 19',
      'DEL Rain tomorrow',
      'INS Sun',
      'INS Line that is new',
      'SPAN Line number 0',
      'SPAN Line number 1',
    ],
  );
});

t.test('Hostile answers stay text, and large ones take no time', async (t) => {
  const hostile = '<script>alert(1)</script> "quoted" & <b>bold</b> text';
  const document = compare(`${hostile} one`, `${hostile} two`);
  t.equal(document.querySelectorAll('script, b').length, 0);
  const words = (seed: number) => Array.from({ length: 15_000 }, (_, at) => ((at * seed) % 977).toString(36)).join(' ');
  const started = performance.now();
  compare(words(7), words(13));
  compare(words(7).replaceAll(' ', '\n\n'), words(13).replaceAll(' ', '\n\n'));
  t.ok(performance.now() - started < 3000);
});
