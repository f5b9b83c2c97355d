import t from 'tap';
import { createContentStream, parseAnswer, toMarkerLine } from '../../src/product/agent/answer.ts';

const MARKER = 'a1b2c3d4e5f60718';
const LINE = toMarkerLine(MARKER);
const read = (text: string) => parseAnswer(text, MARKER);
const answer = (content: string, ...suggestions: string[]) => ({ content, suggestions, draft: null });

t.test('The marker separates content from suggestions, also with decoration', async (t) => {
  for (const line of [
    LINE,
    `${LINE}\n`,
    `**${LINE}**`,
    `\`${MARKER}\``,
    `### ${MARKER.toUpperCase()}`,
    `> ${LINE}  `,
    `---\n${LINE}\n---`,
    `\`\`\`\n${LINE}\n\`\`\``,
    `===${MARKER}===`,
  ]) {
    t.strictSame(
      read(`Titan, **Rhea**\n\n${line}\nWhy?\nHow far?`),
      answer('Titan, **Rhea**', 'Why?', 'How far?'),
      line,
    );
  }
  t.strictSame(read(`Titan. ${LINE} Why?\nHow far?`), answer('Titan.', 'Why?', 'How far?'), 'in the middle of a line');
  t.strictSame(read(`Titan.\r\n${LINE}\r\nWhy?\r\n`), answer('Titan.', 'Why?'));
});

t.test('An answer without the marker is all content', async (t) => {
  for (const text of [
    'Titan.',
    '  Titan.\n\n* Rhea\n',
    '=== 0000000000000000 ===\nTitan',
    '{"content": 7}',
    '',
    '\n',
  ]) {
    t.strictSame(read(text), answer(text.trim()));
  }
});

t.test('A marker that the token limit cut short is not shown', async (t) => {
  for (let length = 3; length < LINE.length - 4; length += 1) {
    t.strictSame(read(`Titan.\n\n${LINE.slice(0, length)}`), answer('Titan.'), LINE.slice(0, length));
  }
  t.strictSame(read('Titan.\n==='.slice(0, -1)), answer('Titan.\n=='), 'similar text is not the marker');
});

t.test('An answer after the marker is not lost', async (t) => {
  t.strictSame(read(`${LINE}\nTitan is the largest.\nRhea is next.`), answer('Titan is the largest.\nRhea is next.'));
  t.strictSame(read(LINE), answer(''));
});

t.test('Suggestions have no bullets, numbers, quotes, headings or repeats', async (t) => {
  const lines = [
    'Here are some ideas:',
    '- Why?',
    '2. "How far is it?"',
    '(3) **Show me a table**',
    '• `why?`',
    '---',
    '4) 3D models of it, please',
    '“Wie groß ist er?”',
    'One too many',
    'x',
  ];
  const expected = ['Why?', 'How far is it?', 'Show me a table', '3D models of it, please', 'Wie groß ist er?'];
  t.strictSame(read(`Titan.\n${LINE}\n${lines.join('\n')}`), answer('Titan.', ...expected));
  t.strictSame(
    read(`Titan.\n${LINE}\n${LINE}\nWhy?\n${LINE}`),
    answer('Titan.', 'Why?'),
    'a second marker is not shown',
  );
});

t.test('A suggestion has 1 to 200 characters', async (t) => {
  const longest = '😀'.repeat(199);
  t.strictSame(
    read(`Titan.\n${LINE}\nx${longest}y\nx${longest}\n   \n!?\n`),
    answer('Titan.', `x${longest}`),
    'a line that is not a suggestion is left out',
  );
});

t.test('Suggestions may be JSON', async (t) => {
  for (const json of [
    '["Why?", "How far?", 7, null]',
    '```json\n["Why?",\n "How far?"]\n```',
    '{"suggestions": ["Why?", "How far?"]}',
    '[\n"Why?",\n"How far?",\n]',
  ]) {
    t.strictSame(read(`Titan.\n${LINE}\n${json}`), answer('Titan.', 'Why?', 'How far?'), json);
  }
});

t.test('An answer in JSON is parsed, fenced or not', async (t) => {
  const whole = JSON.stringify({ content: ' Titan.\n', suggestions: ['- Why?', 'Why?', 'How?', 7] });
  for (const text of [whole, ` ${whole}\n`, `\`\`\`json\n${whole}\n\`\`\``, `\`\`\`\n${whole}\n\`\`\``]) {
    t.strictSame(read(text), answer('Titan.', 'Why?', 'How?'), text);
  }
  for (const text of ['{"content": "Titan."}', '{"content": "Ti', '{"content": 7, "suggestions": []}']) {
    t.strictSame(read(text), answer(text), 'other JSON is content');
  }
});

function handed(text: string, cutAt: () => number) {
  const pieces: string[] = [];
  const content = createContentStream(MARKER, (piece) => pieces.push(piece));
  for (let at = 0; at < text.length; ) {
    const length = Math.max(1, cutAt());
    content.add(text.slice(at, at + length));
    at += length;
  }
  const before = pieces.join('');
  content.end(read(text).content);
  return { pieces, before };
}

t.test('Streamed text is the content for every split into pieces', async (t) => {
  const texts = [
    `Titan, **Rhea** and *Iapetus*.\n\n- one\n- two\n\n${LINE}\nWhy?\nHow?`,
    `  Titan a1b2 a1b2c3d4 === a1b\n=== a1b2c3\n\n**${LINE}**\nWhy?`,
    `Titan\n===\n${LINE.slice(0, 12)}`,
    `Titan === ${MARKER.toUpperCase()} === Why?`,
    `${LINE}\nTitan\nRhea`,
    `{"content": "Titan", "suggestions": ["Why?"]}`,
    '```json\n{"suggestions": [], "content": "Titan"}\n```',
    '{"content": "Ti',
    '{"moons": ["Titan"]}\n',
    '```js\nlet titan;\n```',
    '\n\n a ',
    '',
  ];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (const text of texts) {
    const { content } = read(text);
    for (const most of [1, 2, 5, 20, 1000]) {
      for (let round = 0; round < 20; round += 1) {
        const { pieces, before } = handed(text, () => 1 + random(most));
        if (pieces.join('') !== content || !content.startsWith(before) || pieces.includes('')) {
          t.fail(`${JSON.stringify(text)} became ${JSON.stringify(pieces)}`);
        }
      }
    }
  }
});

t.test('Text is held back only while it may be the marker', async (t) => {
  const pieces: string[] = [];
  const content = createContentStream(MARKER, (piece) => pieces.push(piece));
  for (const delta of ['Titan', ' is', ' **large**', ' and', ' a', '1', ' moon', '.\n', '=== ', MARKER, ' ===\nWhy?']) {
    content.add(delta);
  }
  t.strictSame(pieces, ['Titan', ' is', ' **large', '** and', ' a1 moon', '.']);
});

t.test('Hostile text is parsed in linear time', async (t) => {
  const n = 200_000;
  for (const text of [
    '\n'.repeat(n),
    `x${'\n'.repeat(n)}x`,
    `x${'='.repeat(n)}x`,
    `x${'='.repeat(n)}x${LINE}`,
    `x${'\n='.repeat(n)}x${LINE}`,
    `${LINE}${'- '.repeat(n)}`,
    `x\n${LINE}\n${'1. '.repeat(n)}`,
    `x\n${LINE}\n${'"'.repeat(n)}`,
    `x\n${LINE}\n${'**'.repeat(n)}`,
    `{"content": "${'\\n'.repeat(n)}`,
    '`'.repeat(n),
    `\`\`\`${' '.repeat(n)}x`,
    `x ${'a1b2c3d4e5f6071'.repeat(n / 10)}`,
  ]) {
    const before = performance.now();
    read(text);
    handed(text, () => 4096);
    const tookMs = performance.now() - before;
    t.ok(tookMs < 2000, `${Math.round(tookMs)} ms for ${text.slice(0, 30)}`);
  }
});
