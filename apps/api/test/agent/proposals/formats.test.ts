import t from 'tap';
import { createContentStream, parseAnswer, toMarkerLine } from '../../../src/product/agent/answer.ts';

const MARKER = 'a1b2c3d4e5f60718';
const LINE = toMarkerLine(MARKER);
const TASK = { name: 'Price', prompt: 'Compare {a} with "b".\nSay } which', recurrencePattern: '0 17 * * 5' };
const BARE = JSON.stringify(TASK);
const DRAFT = JSON.stringify({ proposedTask: TASK });
const PRETTY = JSON.stringify({ proposedTask: TASK }, null, 2);
const fence = (text: string, word = 'json') => `\`\`\`${word}\n${text}\n\`\`\``;
const read = (text: string) => parseAnswer(text, MARKER);
const NEXT = ['Why?', 'How far?'];
const BELOW = NEXT.join('\n');

/** What the model writes, by what is unusual about it. All of it is the same answer. */
const FORMATS: Record<string, string> = {
  'as asked': `Fridays.\n\n${LINE}\n${DRAFT}\n${BELOW}`,
  'with line ends of Windows': `Fridays.\r\n\r\n${LINE}\r\n${DRAFT}\r\n${NEXT.join('\r\n')}`,
  pretty: `Fridays.\n${LINE}\n${PRETTY}\n\n${BELOW}`,
  fenced: `Fridays.\n${LINE}\n${fence(PRETTY)}\n${BELOW}`,
  'fenced without a word': `Fridays.\n${LINE}\n${fence(DRAFT, '')}\n${BELOW}`,
  'after the suggestions': `Fridays.\n${LINE}\n${BELOW}\n${DRAFT}`,
  'after the suggestions, with a marker of its own': `Fridays.\n${LINE}\n${BELOW}\n${LINE}\n${fence(DRAFT)}\n`,
  'with a marker before the suggestions too': `Fridays.\n${LINE}\n${DRAFT}\n${LINE}\n${BELOW}`,
  'before the marker': `Fridays.\n\n${DRAFT}\n\n${LINE}\n${BELOW}`,
  'fenced before the marker': `Fridays.\n\n${fence(PRETTY)}\n\n${LINE}\n${BELOW}`,
  'beside the marker': `Fridays.\n${LINE} ${DRAFT}\n${BELOW}`,
  'under a heading': `Fridays.\n${LINE}\n**Draft:**\n${fence(DRAFT)}\n\nSuggestions:\n- Why?\n- How far?`,
  'without its field': `Fridays.\n${LINE}\n${BARE}\n${BELOW}`,
  'fenced without its field': `Fridays.\n${LINE}\n${fence(BARE)}\n${BELOW}`,
  'as a text': `Fridays.\n${LINE}\n${JSON.stringify({ proposedTask: BARE })}\n${BELOW}`,
  'in a list': `Fridays.\n${LINE}\n{"proposedTask": [${BARE}]}\n${BELOW}`,
  'with the suggestions in the same object': `Fridays.\n${LINE}\n${JSON.stringify({ suggestions: NEXT, proposedTask: TASK })}`,
  'with suggestions as JSON': `Fridays.\n${LINE}\n${DRAFT}\n${JSON.stringify(NEXT)}`,
  'with a trailing comma': `Fridays.\n${LINE}\n${DRAFT.replace('}}', ',},}')}\n${BELOW}`,
  'with comments': `Fridays.\n${LINE}\n${PRETTY.replace('"name"', '// it\'s the } name\n/* { */ "name"')}\n${BELOW}`,
  'with single quotes': `Fridays.\n${LINE}\n{'proposedTask': {'name': 'Price', 'prompt': 'Compare {a} with "b".\\nSay } which', 'recurrencePattern': '0 17 * * 5'}}\n${BELOW}`,
  'with curly quotes': `Fridays.\n${LINE}\n${DRAFT.replace('"proposedTask"', '“proposedTask”').replace('"name"', '“name”')}\n${BELOW}`,
  'without quotes around names': `Fridays.\n${LINE}\n${DRAFT.replace('"proposedTask"', 'proposedTask').replace('"name"', 'name')}\n${BELOW}`,
  'with a line end in a text': `Fridays.\n${LINE}\n${DRAFT.replace('\\n', '\n')}\n${BELOW}`,
  'in other letter case': `Fridays.\n${LINE}\n${DRAFT.replace('proposedTask', 'ProposedTask')}\n${BELOW}`,
  twice: `Fridays.\n${LINE}\n${DRAFT}\n${JSON.stringify({ proposedTask: { prompt: 'Another one' } })}\n${BELOW}`,
  'in an answer that is JSON': JSON.stringify({ content: 'Fridays.', suggestions: NEXT, proposedTask: TASK }),
  'in an answer that is fenced JSON': fence(
    JSON.stringify({ content: 'Fridays.', proposedTask: TASK, suggestions: NEXT }),
  ),
  'in an answer that is JSON and begins with it': JSON.stringify({
    proposedTask: TASK,
    content: 'Fridays.',
    suggestions: NEXT,
  }),
  'in an answer that is nearly JSON': `{"content": "Fridays.", "suggestions": ["Why?", "How far?",], "proposedTask": ${BARE},}`,
};

for (const [format, text] of Object.entries(FORMATS)) {
  t.test(`A draft is found ${format}`, async (t) => {
    t.strictSame(read(text), { content: 'Fridays.', suggestions: NEXT, draft: { value: TASK } });
  });
}

t.test('A draft without the marker line is found and not shown', async (t) => {
  for (const draft of [DRAFT, PRETTY, fence(PRETTY), fence(DRAFT, '')]) {
    t.strictSame(read(`Fridays.\n\n${draft}`), { content: 'Fridays.', suggestions: [], draft: { value: TASK } });
    t.strictSame(
      read(`Fridays.\n\n${draft}\n\nShall I?`),
      { content: 'Fridays.\n\nShall I?', suggestions: [], draft: { value: TASK } },
      'what follows is content',
    );
  }
  t.strictSame(read(DRAFT), { content: '', suggestions: [], draft: { value: TASK } }, 'and nothing else');
});

t.test('Other JSON is content', async (t) => {
  for (const content of [
    '{"name": "Titan", "prompt": "Name a moon of Saturn."}\nis the body.',
    'The field {"proposed": 1} of an object.',
    'A proposedTask is proposed.',
    '{"moons": [{"name": "Titan"}]}',
    'if (x) {',
  ]) {
    t.strictSame(read(content), { content, suggestions: [], draft: null }, content);
    t.strictSame(read(`${content}\n${LINE}\nWhy?`), { content, suggestions: ['Why?'], draft: null }, content);
  }
  for (const none of ['null', '[]', '"none"', 'false', 'no']) {
    const text = `Titan.\n${LINE}\n{"proposedTask": ${none}}\nWhy?`;
    t.strictSame(read(text), { content: 'Titan.', suggestions: ['Why?'], draft: null }, 'the model has no task');
  }
});

t.test('A draft that cannot be read is not shown, and is not taken for a suggestion', async (t) => {
  for (const draft of [
    '{"proposedTask": {"name": "x", "pro',
    '{"proposedTask": {"x", "y", "z"}}',
    '{"name": "x", "prompt": "abc',
  ]) {
    const { content, suggestions, draft: found } = read(`Titan.\n${LINE}\n${draft}`);
    t.strictSame([content, suggestions], ['Titan.', []], draft);
    t.strictSame(found, { value: undefined }, draft);
  }
});

function stream(text: string, size: number) {
  const pieces: string[] = [];
  const content = createContentStream(MARKER, (piece) => pieces.push(piece));
  for (let at = 0; at < text.length; at += size) content.add(text.slice(at, at + size));
  const before = pieces.join('');
  content.end(read(text).content);
  return { before, all: pieces.join('') };
}

const DRAFT_TEXT = /[{}]|proposed|recurrence|Price|Compare/i;

t.test('The draft never shows up in a stream, whatever the pieces and wherever it is cut', async (t) => {
  const unmarked = [`Fridays.\n\n${fence(PRETTY)}`, `Fridays.\n\n${DRAFT}\n\nShall I?`, DRAFT];
  let cuts = 0;
  for (const text of [...Object.values(FORMATS), ...unmarked]) {
    const isJson = /^(```json\n)?\{"content/.test(text);
    for (let length = 0; length <= text.length; length++) {
      const cut = text.slice(0, length);
      const { content } = read(cut);
      for (const size of [1, 1000]) {
        const { before, all } = stream(cut, size);
        if (all !== content || !content.startsWith(before))
          t.fail(`${JSON.stringify(cut)} became ${JSON.stringify(all)}`);
        // A whole answer in JSON that is cut is shown as it is, but for its draft.
        const shown = isJson ? before + content.replace(/^(```json\s*)?\{/, '').replace(/\}\s*(```)?$/, '') : all;
        if (DRAFT_TEXT.test(shown)) t.fail(`${JSON.stringify(cut)} showed ${JSON.stringify(all)}`);
      }
      const leaked = read(cut).suggestions.filter((one) => DRAFT_TEXT.test(one));
      if (leaked.length > 0) t.fail(`${JSON.stringify(cut)} suggested ${JSON.stringify(leaked)}`);
      cuts++;
    }
  }
  t.ok(cuts > 5000, `${cuts} cuts`);
});

t.test('A draft that is cut is never taken for a whole one', async (t) => {
  for (const [format, text] of Object.entries(FORMATS)) {
    const end = text.lastIndexOf('0 17 * * 5');
    t.ok(end > 0, format);
    for (let length = 0; length <= end; length++) {
      const { draft } = read(text.slice(0, length));
      if (draft && draft.value !== undefined) t.fail(`${format}: ${JSON.stringify(text.slice(0, length))}`);
    }
  }
});

t.test('Hostile drafts are read in little time', async (t) => {
  const opened = '{"proposedTask": ';
  for (const [name, text] of Object.entries({
    '1 MB of text': `${opened}{"prompt": "${'x'.repeat(1_000_000)}"}}`,
    'deep objects': `${opened}${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
    'deep lists': `${opened}${'['.repeat(200_000)}`,
    'many drafts': '{"proposedTask":0}'.repeat(20_000),
    'many openings': opened.repeat(20_000),
    'many braces': '{'.repeat(300_000),
    'many fences': '```json\n{'.repeat(50_000),
    'quotes without commas': `${opened}{"a": ${'"b" '.repeat(1400)}}}`,
    'open quotes': `${opened}{${'"b"c'.repeat(1400)}}}`,
    comments: `${opened}{${'/*'.repeat(100_000)}}}`,
    spaces: `{${' '.repeat(300_000)}"proposedTask"`,
  })) {
    for (const answer of [text, `Titan.\n${LINE}\n${text}`]) {
      const before = performance.now();
      const { content } = read(answer);
      stream(answer, 4096);
      const tookMs = performance.now() - before;
      t.ok(tookMs < 1000, `${Math.round(tookMs)} ms for ${name}`);
      t.ok(answer === text || content === 'Titan.');
    }
  }
});
