import t from 'tap';
import { AppError, ERROR_MESSAGES } from '../../src/errors.ts';
import { checkJson } from '../../src/uploads/content-checks.ts';
import { MAX_JSON_DEPTH } from '../../src/uploads/json-syntax.ts';

/** Whether a JSON file with this text is accepted, in pieces of so many bytes. */
function accepts(text: string, piece = Infinity): boolean {
  const check = checkJson();
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length; at += piece) check.add(bytes.subarray(at, at + piece));
    check.end();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const GOOD = [
  '1',
  '-0',
  '0.5e-7',
  '12E+34',
  '1e5',
  'true',
  ' null\n',
  '""',
  '"\\u00e9\\n\\"\\\\\\/"',
  '"\ud83d\ude00 \u2028"',
  '[]',
  '[ ]',
  '{}',
  '[[],{},[{}]]',
  '{"a": 1, "b": [true, false, null], "": {"c": "d"}}',
  '\t{"a"\r\n:\n"b"}\t',
];
const BAD = [
  '',
  ' ',
  'nul',
  'nulll',
  'undefined',
  '01',
  '-',
  '1.',
  '.5',
  '1e',
  '1e+',
  '+1',
  '0x1',
  'NaN',
  '"',
  '"\n"',
  '"\\x"',
  '"\\u12g4"',
  '"\\u123"',
  "'a'",
  '[',
  ']',
  '[1,]',
  '[,1]',
  '[1 2]',
  '[1}',
  '{',
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{a:1}',
  '{1:2}',
  '{"a":1 "b":2}',
  '{"a"::1}',
  '1 2',
  '{} []',
  '// a\n1',
  '[1]\u00a0',
  'true false',
  '1-',
];

t.test('JSON is accepted if JSON.parse accepts it, wherever the bytes are cut', async (t) => {
  const wrong: string[] = [];
  for (const text of [...GOOD, ...BAD]) {
    const good = GOOD.includes(text);
    if (isJson(text) !== good) wrong.push(`the case is wrong: ${text}`);
    for (const piece of [1, 2, 3, text.length || 1])
      if (accepts(text, piece) !== good) wrong.push(`${text} by ${piece}`);
  }
  t.same(wrong, []);
});

t.test('Randomly changed JSON is accepted if JSON.parse accepts it', async (t) => {
  let seed = 20_261_120;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % below;
  };
  const letters = '[]{}",:.\\eE+-0159tfnul \n';
  let good = 0;
  for (let round = 0; round < 20_000; round++) {
    let text = GOOD[random(GOOD.length)] as string;
    for (let changes = 1 + random(3); changes > 0; changes--) {
      const at = random(text.length + 1);
      text = text.slice(0, at) + (letters[random(letters.length)] ?? '') + text.slice(at + random(2));
    }
    const expected = isJson(text);
    good += Number(expected);
    if (accepts(text, 1 + random(5)) !== expected) t.fail(`${JSON.stringify(text)} is ${expected ? '' : 'no '}JSON`);
  }
  t.ok(good > 1000, `${good} of them were good`);
});

t.test('JSON is refused at the piece that makes it invalid, so that no file is collected', async (t) => {
  const good = Buffer.from('[],'.repeat(1000));
  for (const bad of [']', '{1 ', '"\\x', '"\n', 'nil,', '['.repeat(MAX_JSON_DEPTH)]) {
    const check = checkJson();
    check.add(Buffer.from('['));
    for (let piece = 0; piece < 100; piece++) check.add(good);
    t.throws(() => check.add(Buffer.from(bad)), { message: ERROR_MESSAGES.invalid }, JSON.stringify(bad.slice(0, 10)));
  }
});

t.test('Nesting is bounded, and brackets in strings do not count', async (t) => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  t.ok(accepts(nested(MAX_JSON_DEPTH)));
  t.notOk(accepts(nested(MAX_JSON_DEPTH + 1)));
  t.notOk(accepts('['.repeat(1_000_000)));
  t.notOk(accepts('{"a":'.repeat(1_000_000)));
  t.ok(accepts(JSON.stringify('['.repeat(1000))), 'brackets in a string');
  t.notOk(accepts(`{"a":${nested(MAX_JSON_DEPTH)},"a":1}`), 'a repeated name hides no depth');
  t.ok(accepts(`[${'[],'.repeat(100_000)}1]`), 'width is not depth');
});
