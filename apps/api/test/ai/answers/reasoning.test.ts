import t from 'tap';
import { ModelReply } from '../../../src/lib/ai/reply.ts';
import { startTestAi, toFailure } from '../../support/ai-client.ts';

/** What is left of a text that arrives whole, character by character, and in a stream. */
function read(text: string, { isStream = true, size = 1, closesReasoning = false } = {}) {
  const pieces: string[] = [];
  const reply = new ModelReply(isStream ? { onText: (delta) => pieces.push(delta) } : {}, closesReasoning);
  for (let at = 0; at < text.length; at += size) reply.addText(text.slice(at, at + size));
  reply.finishReason = 'stop';
  reply.endText();
  return {
    text: reply.answer,
    streamed: pieces.join(''),
    reasoning: reply.reasoning,
    isOnlyReasoning: reply.isOnlyReasoning,
  };
}

const ANSWER = 'Titan, Rhea and Iapetus.';

t.test('Reasoning before the answer is no part of it, for every split into pieces', (t) => {
  for (const text of [
    `<think>\nMoons …\n</think>\n\n${ANSWER}`,
    `\n <think>Moons</think>${ANSWER}`,
    `<think></think>\n${ANSWER}`,
    `<think>\n\n</think>\n\n<think>Again</think> ${ANSWER}`,
    `<thinking>a < b && <b>bold</b></thinking>${ANSWER}`,
    `<thought>Moons</thought>\n${ANSWER}`,
    `<Thoughts>Moons</Thoughts>\n${ANSWER}`,
    `<reasoning>\n{"moons": []}\n</reasoning>\n${ANSWER}`,
    `<THINK>Moons</think>${ANSWER}`,
    `<think time="3">Moons</think>${ANSWER}`,
    `<seed:think>Moons</seed:think>${ANSWER}`,
    `[THINK]Moons[/THINK]${ANSWER}`,
    `◁think▷Moons◁/think▷${ANSWER}`,
    `<|channel|>analysis<|message|>Moons<|end|><|start|>assistant<|channel|>final<|message|>${ANSWER}`,
    `</think>\n\n${ANSWER}`,
    `The user wants moons.\n</think>\n\n${ANSWER}`,
    `Okay, so the user wants moons: "Titan"</think>${ANSWER}`,
    `Alright, the user wants three moons. </think> ${ANSWER}`,
    `I need to name moons.\n\`\`\`\nlist\n\`\`\`\n</thinking>\n</thinking>\n${ANSWER}`,
  ]) {
    for (const size of [1, 3, 7, text.length]) {
      t.match(read(text, { size }), { text: ANSWER, streamed: ANSWER, isOnlyReasoning: false }, `${size} of ${text}`);
      t.match(read(text, { size, isStream: false }), { text: ANSWER }, text);
    }
  }
  t.equal(read(`Moons, moons.</think>${ANSWER}`, { isStream: false }).text, ANSWER, 'whatever it begins with');
  t.equal(read(`Moons, moons.</think>${ANSWER}`, { closesReasoning: true }).streamed, ANSWER);
  t.end();
});

t.test('Tags that an answer quotes, or writes further below, are part of it', (t) => {
  for (const text of [
    ANSWER,
    '  Titan',
    'R1 writes <think>, then its reasoning, then </think>.',
    'Remove it: `text.replace(/<think>.*<\\/think>/s, "")`.',
    'The tag `</think>` ends reasoning.',
    'The tag "</think>" ends reasoning.',
    'Use </think> to end it.',
    'It ends with </think>, and then the answer follows.',
    'It ends with (</think>).',
    'Tags:\n\n- </think>\n- </thought>\n',
    '| Tag | Meaning |\n|---|---|\n| </think> | ends it |\n',
    '```html\n<think>\nmoons\n</think>\n```\nThat is all.',
    '```html\nmoons\n</think>\n```\nThat is all.',
    '~~~\nmoons\n</think>\n~~~',
    '{"tag": "</think>", "use": "write </think> to end"}',
    '`<think>` begins it.',
    '<thinker>Rodin</thinker>',
    '<p>Titan</p>',
    '<',
    '[1, 2]',
    '[ ] Titan\n[x] Rhea',
    'a < b',
    'Titan <',
    'The user',
    'Okay, so Titan is the largest moon.',
    `<think>Moons</think>${ANSWER}`.replace('<think>Moons</think>', 'Tags: '),
  ]) {
    for (const size of [1, 5, text.length]) {
      t.match(read(text, { size }), { text, streamed: text, reasoning: '' }, `${size} of ${text}`);
      t.match(read(text, { size, isStream: false }), { text, reasoning: '' });
    }
  }
  const quoting = 'R1 writes <think> and </think>.\n\n</think>';
  t.equal(read(`<think>Tags</think>${quoting}`).text, quoting);
  t.end();
});

t.test('Any number of quoted tags is read in linear time', (t) => {
  const began = performance.now();
  const text = '`</think>` `<think>` '.repeat(50_000);
  t.equal(read(text, { size: 1000 }).text, text);
  t.equal(read(`<think>${'</thin'.repeat(100_000)}`, { size: 1000 }).isOnlyReasoning, true);
  t.ok(performance.now() - began < 5000);
  t.end();
});

t.test('An answer that is only reasoning, cut off, is a failure that names maxTokens', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const finishReason of ['length', 'MAX_TOKENS', 'stop']) {
    for (const text of ['<think>Moons of', '<thought>\nMoons', '[THINK]Moons']) {
      server.answer(() => ({ text, finishReason }));
      for (const onText of [undefined, () => t.fail('no text')]) {
        const failure = toFailure(await ask({ onText, maxTokens: 77 }));
        t.match(failure, { errorCode: 'PROVIDER_ERROR', message: /77 tokens.*maxTokens/, retryable: false });
        t.match(failure, { usage: { outputTokens: Number } });
      }
    }
  }
});

t.test('A model that closes reasoning without opening it is remembered, until it no longer does', async (t) => {
  const { server, ask } = await startTestAi(t);
  const stream = async (text: string) => {
    server.answer(() => ({ text }));
    const pieces: string[] = [];
    const outcome = await ask({ onText: (delta) => pieces.push(delta) });
    t.ok(outcome.ok);
    return pieces.join('');
  };
  server.answer(() => ({ text: `Three moons.</think>${ANSWER}` }));
  t.match(await ask(), { ok: true, text: ANSWER });
  t.equal(await stream(`Moons again.</think>${ANSWER}`), ANSWER);
  t.equal(await stream(ANSWER), ANSWER);
});
