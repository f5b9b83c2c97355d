import t from 'tap';
import { findJson, readOutput } from '../../../src/product/executions/result/read-output.ts';

const text = (answer: string) => {
  const found = findJson(answer);
  return found.ok ? found.text : found.problem;
};

t.test('JSON is found in what models write around it', async (t) => {
  for (const [answer, expected] of [
    ['{"a": 1}', '{"a": 1}'],
    ['\n {"a": 1}\n', '{"a": 1}'],
    ['[1, 2]', '[1, 2]'],
    ['"text"', '"text"'],
    ['```json\n{"a": 1}\n```', '{"a": 1}'],
    ['Here you are:\n```\n{"a": {"b": [1]}}\n```\nAnything else?', '{"a": {"b": [1]}}'],
    ['The value {x} of [1] is {"a": "}"} :-{', '{"a": "}"}'],
    ['{"a": "she said \\"{\\""} :}', '{"a": "she said \\"{\\""}'],
    ['} {"a": 1}', '{"a": 1}'],
    ['A set {1, 2} and {"a": 1}', '{"a": 1}'],
    ['{"a": "😀 \u2028"} ok', '{"a": "😀 \u2028"}'],
  ] as const) {
    t.equal(text(answer), expected);
  }
});

t.test('What is no JSON object, or more than one, is said', async (t) => {
  const none = 'The answer is not JSON';
  const several = 'The answer has more than one JSON object';
  for (const [answer, expected] of [
    ['', none],
    ['No.', none],
    ['{"a": 1', none],
    ["{'a': 1}", none],
    ['{"a": 1,}', none],
    ['See [{"a": 1}] here', none],
    ['{"a": 1}\n{"a": 2}', several],
    ['First {"a": 1}, then {"a": 2}.', several],
  ] as const) {
    t.equal(text(answer), expected);
  }
});

t.test('Hostile answers are read to the end', async (t) => {
  const size = 200_000;
  for (const answer of [
    '{'.repeat(size),
    '['.repeat(size),
    '{"'.repeat(size),
    '\\"'.repeat(size),
    '{}'.repeat(size),
    '{x}'.repeat(size),
  ]) {
    t.equal(findJson(`${answer} x`).ok, false);
  }
});

t.test('The first fifty parts in braces or brackets are tried', async (t) => {
  t.equal(text(`${'{x} '.repeat(49)}{"a": 1}`), '{"a": 1}');
  t.equal(text(`${'{x} '.repeat(50)}{"a": 1}`), 'The answer is not JSON');
  t.equal(text(`${'{ '.repeat(4)}{"a": 1}`), '{"a": 1}');
});

t.test('A schema that is not accepted any more makes answers invalid', async (t) => {
  const read = readOutput('{}', { type: 'object', $ref: 'https://example.com/schema' });
  t.match(read, { ok: false, isHopeless: true, problems: [/^outputSchema\.\$ref must be a reference/] });
});

t.test('What cannot be stored is a problem', async (t) => {
  const schema = { type: 'object' };
  const problem = (answer: string) => {
    const read = readOutput(answer, schema);
    return read.ok ? 'none' : read.problems.join();
  };
  t.equal(problem('{"a": "\\u0000"}'), 'The answer has a NUL character or half a surrogate pair.');
  t.equal(problem('{"\\ud800": 1}'), 'The answer has a NUL character or half a surrogate pair.');
  t.equal(problem('{"a": 1e999}'), 'The answer has a number that is too large.');
  t.equal(problem(`{"a": ${'['.repeat(70)}${']'.repeat(70)}}`), 'The answer is nested deeper than 64 levels.');
  t.equal(problem(`{"a": [${'0,'.repeat(49_998)}0]}`), 'The answer has more than 50000 values.');
  t.equal(problem(`{"a": [${'0,'.repeat(49_997)}0]}`), 'none');
  const long = (characters: number) => `{"a": "${'x'.repeat(characters - 9)}"}`;
  t.equal(problem(long(262_144)), 'none');
  t.equal(problem(long(262_145)), 'The answer has more than 262144 characters.');
});
