import t from 'tap';
import { diffTexts } from '../../../src/lib/differences/diff-texts.ts';

const join = (before: string, after: string, without: 'insert' | 'delete') =>
  diffTexts(before, after)
    .filter(({ op }) => op !== without)
    .map(({ text }) => text)
    .join('');

t.test('A changed word is deleted and inserted between what is equal', async (t) => {
  t.strictSame(diffTexts('The price is 12.5 today.', 'The price is 11.9 today.'), [
    { op: 'equal', text: 'The price is ' },
    { op: 'delete', text: '12.5' },
    { op: 'insert', text: '11.9' },
    { op: 'equal', text: ' today.' },
  ]);
  t.strictSame(diffTexts('a', 'a'), [{ op: 'equal', text: 'a' }]);
  t.strictSame(diffTexts('', 'a'), [{ op: 'insert', text: 'a' }]);
  t.strictSame(diffTexts('a', ''), [{ op: 'delete', text: 'a' }]);
  t.strictSame(diffTexts('', ''), []);
});

t.test('The parts in order are both texts, whatever they are', async (t) => {
  const pieces = ['a', 'b', ' ', '\n', '\t', '🔔', '\u00a0', '.', 'word ', ''];
  let seed = 17;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const build = (length: number) => Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)]).join('');
  for (const length of [1, 2, 3, 5, 8, 13, 50, 200, 200, 200, 15_000, 60_000, 300_000]) {
    const [before, after] = [build(length), build(length)];
    t.ok(join(before, after, 'insert') === before && join(before, after, 'delete') === after, `${length} pieces`);
    const middle = `${before}x ${after}`;
    t.ok(join(middle, `${before}y ${after}`, 'delete') === `${before}y ${after}`);
  }
});

t.test('Long texts that differ everywhere are replaced as a whole', async (t) => {
  const lines = (word: string) => `${word}\n`.repeat(90_000);
  t.strictSame(
    diffTexts(lines('a'), lines('b')).map(({ op }) => op),
    ['delete', 'insert', 'equal'],
    'the last line break is equal',
  );
});

t.test('The difference of long texts is found between their equal ends', async (t) => {
  const same = 'All is well.\n'.repeat(40_000);
  const parts = diffTexts(`${same}12 EUR\n${same}`, `${same}11 EUR\n${same}`);
  t.strictSame(parts.slice(1, -1), [
    { op: 'delete', text: '12' },
    { op: 'insert', text: '11' },
  ]);
});
