import type { FileType } from '@carillon/contract/tasks/files';
import t from 'tap';
import { readFile } from '../../../src/product/tasks/files/read-file.ts';
import { TASK } from '../../support/tasks.ts';

const item = (externalId: string, more = '') => `- externalId: ${externalId}
  name: Morning news
  prompt: Tell me what happened overnight.
  scheduledFor: 2026-11-20T11:00:00.000Z
  recurrence: daily
  timezone: UTC
${more}`;

async function read(text: string, type: FileType = 'yaml') {
  const { entries, problems } = await readFile(text, type);
  const problem = problems.map(({ line, field, message }) => `${line} ${field} ${message}`);
  return { tasks: entries.map(({ task }) => task), lines: entries.map(({ findLine }) => findLine('')), problem };
}

const A = { externalId: 'a', ...TASK };

t.test('A list is read wherever it begins', async (t) => {
  const files: [string, number][] = [
    [item('a'), 1],
    [`\uFEFF# comment\n---\n${item('a')}...\n`.slice(1), 3],
    [`%YAML 1.2\n--- # begin\n\n${item('a')}`, 4],
    [item('a').replaceAll(/^/gm, '    ').trimEnd(), 1],
    [item('a').replaceAll('\n', '\r\n'), 1],
    [item('a').replace('- ', '-\n  '), 1],
    [`[${JSON.stringify(A)}]`, 1],
  ];
  for (const [text, line] of files) t.match(await read(text), { tasks: [A], lines: [line], problem: [] }, text);
  t.same(await read(''), { tasks: [], lines: [], problem: [] });
  t.same(await read('[]'), { tasks: [], lines: [], problem: [] });
});

t.test('A mark of an item inside of a text begins no item', async (t) => {
  const prompt = 'One\n- two\n\n--- three\n...\n- four\n';
  const text = `- ${JSON.stringify({ ...A, prompt })}\n${item('b').replace(/prompt: .*/, `prompt: |\n    ${prompt.trimEnd().replaceAll('\n', '\n    ')}`)}`;
  const { tasks, problem } = await read(text);
  t.same(problem, []);
  t.same(
    tasks.map((task) => task.prompt),
    [prompt, prompt],
  );
});

t.test('Anchors count in later tasks, and merge into them', async (t) => {
  const text = `- &base
  externalId: a
  name: Morning news
  prompt: Tell me what happened overnight.
  scheduledFor: 2026-11-20T11:00:00.000Z
  recurrence: daily
  timezone: UTC
  channels: &phone [Phone]
- <<: *base
  externalId: b
  maxTokens: 5
- &third
  <<: *base
  externalId: c
  watch: *phone
- <<: *third
  externalId: d
  colour: red
`;
  const { tasks, lines, problem } = await read(text);
  t.same(problem, ['18 colour is not a known field']);
  t.same(lines, [1, 9, 12]);
  t.same(tasks[1], { ...A, externalId: 'b', channels: ['Phone'], maxTokens: 5 });
  t.same(tasks[2], { ...A, externalId: 'c', channels: ['Phone'], watch: ['Phone'] });
});

t.test('What is not a plain list of tasks is refused at its line', async (t) => {
  const bomb = ['- a: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let at = 1; at < 12; at++)
    bomb.push(
      `  b${at}: &a${at} [${Array(9)
        .fill(`*a${at - 1}`)
        .join(', ')}]`,
    );
  const wrong: [string, RegExp, FileType?][] = [
    ['tasks:\n  - a\n', /^1 file must be a list of tasks$/],
    ['text', /^1 file must be a list of tasks$/],
    [`${item('a')}---\n${item('b')}`, /^7 file must be one document$/],
    [`${item('a')}  tools: !!set {web_search}\n`, /^7 file must not have tags, such as "!!set"$/],
    [`${item('a')}- !js/function x\n`, /^7 file must not have tags/],
    [`${item('a')}${item('b', '  name: Twice\n')}`, /^13 file must be YAML: Map keys must be unique$/],
    [`${item('a')}- *nobody\n`, /^7 file must have an anchor before each alias/],
    [bomb.join('\n'), /^1 file must have an anchor before each alias, and fewer aliases/],
    [`- ${'['.repeat(15_000)}`, /^1 file must not be nested deeper than 32 levels$/],
    [`${item('a')}- ${'['.repeat(9000)}${']'.repeat(9000)}`, /^7 file must not be nested deeper than 32 levels$/],
    [`- ${'- '.repeat(100)}x`, /^1 task item 1 [0.]+ must not be nested deeper than 32 levels$/],
    [`- ${'- '.repeat(9000)}x`, /^1 /],
    [`- [${'a,'.repeat(30_000)}]`, /^1 file is too long for one task$/],
    [`${item('a')}- "${'x'.repeat(2 * 1024 * 1024)}"`, /^7 file is too long for one task$/],
    [
      item('a').replace('overnight', '"\\0"').replace('Tell', '"Tell').replace('"\\0".', '\\0"'),
      /^3 prompt must not contain the NUL/,
    ],
    ['- a\n- b\n', /^1 task must be an object$/],
    ['-\n', /^1 task must be an object$/],
    [item('a', '  __proto__: {status: active}\n'), /^7 __proto__ is not a known field$/],
    [`${JSON.stringify(A)}\n{"externalId":`, /^2 file must be JSON$/, 'jsonl'],
    [`\n${JSON.stringify({ ...A, name: 7 })}`, /^2 name must be a string$/, 'jsonl'],
    ['{"__proto__": {"status": "active"}}', /^1 __proto__ is not a known field$/, 'jsonl'],
    [`${'['.repeat(100_000)}`, /^1 file must be JSON$/, 'jsonl'],
    [`${JSON.stringify(A)}\n${JSON.stringify(A)}`, /^2 externalId is also that of the task at line 1$/, 'jsonl'],
  ];
  for (const [text, expected, type] of wrong) {
    const { problem } = await read(text, type);
    t.ok(
      problem.some((line) => expected.test(line)),
      `${text.slice(0, 60)} → ${problem.slice(0, 3)}`,
    );
  }
});

t.test('Reading ends at the hundredth problem, and at the ten-thousandth task', async (t) => {
  const { problem } = await read('- x\n'.repeat(4_000_000));
  t.equal(problem.length, 100);
  const many = Array.from({ length: 10_001 }, (_, at) => JSON.stringify({ ...A, externalId: `t${at}` })).join('\n');
  const { tasks, problem: last } = await read(many, 'jsonl');
  t.equal(tasks.length, 10_000);
  t.same(last, ['10001 file must have at most 10000 tasks']);
});

t.test('Other requests have their turn while a long file is read', async (t) => {
  const text = Array.from({ length: 5000 }, (_, at) => item(`t${at}`)).join('');
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const { tasks } = await read(text);
  clearInterval(timer);
  t.equal(tasks.length, 5000);
  t.ok(turns > 5, `${turns} turns`);
});
