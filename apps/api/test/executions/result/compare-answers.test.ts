import t from 'tap';
import { describeChanges } from '../../../src/lib/differences/describe-changes.ts';
import { compareAnswers, compareTexts } from '../../../src/product/executions/result/compare/compare-answers.ts';

const text = (words: string) => ({ text: words, output: null });

t.test('Texts are compared with their white space folded', async (t) => {
  t.strictSame(compareTexts('All is  well.\n', '\tAll is\r\n\u00a0well. '), []);
  t.strictSame(compareTexts('All is well.', 'Allis well.'), [{ path: '', from: 'All is well.', to: 'Allis well.' }]);
  t.strictSame(compareTexts('', ' \n '), []);
});

t.test('Of long texts the place of the first difference is kept', async (t) => {
  const same = 'x '.repeat(5000);
  const [change] = compareTexts(`${same}12 EUR`, `${same}11 EUR`);
  t.equal(change?.cut, true);
  t.match(change?.from, /^…[x ]{199}12 EUR$/);
  t.match(change?.to, /^…[x ]{199}11 EUR$/);
  const [early] = compareTexts(`a${same}`, `b${same}`);
  t.match([early?.from, early?.to], [/^ax .*…$/s, /^bx .*…$/s]);
  t.ok(JSON.stringify(early).length < 5000);
  const [pair] = compareTexts(`${'🔔'.repeat(1500)}a`, `${'🔔'.repeat(1500)}b`);
  t.ok([pair?.from, pair?.to].every((kept) => typeof kept === 'string' && kept.isWellFormed()));
});

t.test('Without an output the texts are compared, whatever is watched', async (t) => {
  t.strictSame(compareAnswers(text('a'), text('b'), ['price']), [{ path: '', from: 'a', to: 'b' }]);
  const earlier = { text: '{"price":1}', output: { price: 1 } };
  t.strictSame(compareAnswers(earlier, text('1 EUR'), ['price']), [{ path: '', from: '{"price":1}', to: '1 EUR' }]);
});

t.test('With an output the values of an earlier answer without one are missing', async (t) => {
  const later = { text: '{"price":1}', output: { price: 1 } };
  t.strictSame(compareAnswers(text('1 EUR'), later, ['price']), [{ path: 'price', to: 1 }]);
});

t.test('Outputs that are too large are compared as text', async (t) => {
  const many = (end: string) => ({ text: `${'1,'.repeat(10)}${end}`, output: Array(250_000).fill(1) });
  t.strictSame(compareAnswers(many('1'), many('1'), []), []);
  t.match(compareAnswers(many('1'), many('2'), []), [{ path: '' }]);
});

t.test('Changes are described in lines', async (t) => {
  const changes = [
    { path: 'price', from: 12.5, to: 11.9 },
    { path: 'l[id="a"].v', to: 'x\ny' },
    { path: 'old', from: null },
    { path: 'big', to: 'z'.repeat(600), cut: true },
    { path: '', cut: true },
  ];
  t.equal(
    describeChanges(changes, 'en'),
    `price: 12.5 → 11.9\nl[id="a"].v: missing → "x\\ny"\nold: null → missing\nbig: missing → "${'z'.repeat(499)}…\nThere are further changes.`,
  );
  t.equal(describeChanges([{ path: '', from: [1], to: 'a' }], 'en'), 'the whole answer: [1] → "a"');
});

t.test('A change of a text is described by its lines with two unchanged ones around', async (t) => {
  const lines = (price: string) => `1\n2\n3\n4\n5\n6\n${price}\n7`;
  t.equal(
    describeChanges([{ path: '', from: lines('12.5'), to: lines('11.9') }], 'en'),
    '  1\n  2\n  …\n  5\n  6\n- 12.5\n+ 11.9\n  7',
  );
});
