import { executions, usageRecords } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import type { AiRequest } from '../../../src/lib/ai/request.ts';
import { tryPrompt } from '../../../src/product/agent/try-prompt.ts';
import { askForOutput } from '../../../src/product/executions/result/ask-for-output.ts';
import { testEngine } from '../../support/engine.ts';
import type { AiAnswer } from '../../support/servers/ai-server.ts';
import { insertTask, readRun, readRuns, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, alice, runDue } = await testEngine(t);

const SCHEMA = {
  type: 'object',
  properties: { price: { type: 'number' }, items: { type: 'array', items: { type: 'string' } } },
  required: ['price'],
  additionalProperties: false,
};
const GOOD = '{"price": 12.5, "items": ["a"]}';

/** Runs a task with `SCHEMA` while the provider gives these answers. */
async function runWith(t: Parameters<typeof runDue>[0], answers: (string | AiAnswer)[], settings = {}) {
  const left = answers.map((answer) => (typeof answer === 'string' ? { text: answer } : answer));
  ai.answer(() => left.shift() ?? { status: 418 });
  const task = await insertTask(ctx, alice().id, { outputSchema: SCHEMA, ...settings });
  await runDue(t);
  const [run] = await readRuns(ctx, task);
  return { task, run: run! };
}

const getText = (index: number, role: string) =>
  String(ai.requests[index]?.body.messages.find((message) => message.role === role)?.content);

t.test('An answer that matches is stored parsed, and its JSON is the result', async (t) => {
  const { run } = await runWith(t, [` ${GOOD}\n`]);
  t.match(run, { status: 'completed', result: GOOD, errorCode: null });
  t.strictSame(run.output, { price: 12.5, items: ['a'] });
  t.equal(ai.requests.length, 1);
});

t.test('JSON in fences or with prose around it is found', async (t) => {
  for (const answer of [
    `\`\`\`json\n${GOOD}\n\`\`\``,
    `\`\`\`\n${GOOD}\n\`\`\``,
    `Sure! Here is [the list]:\n\n${GOOD}\n\nShall I go on? :}`,
  ]) {
    ai.requests.length = 0;
    const { run } = await runWith(t, [answer]);
    t.match(run, { status: 'completed', result: GOOD }, answer);
    t.strictSame(run.output, { price: 12.5, items: ['a'] });
    t.equal(ai.requests.length, 1);
  }
});

t.test('The provider is sent the schema, and the system message that is kept has it too', async (t) => {
  const { run } = await runWith(t, [GOOD]);
  const [sent] = ai.requests;
  const json_schema = { name: 'output', schema: SCHEMA };
  t.strictSame(sent?.body.response_format, { type: 'json_schema', json_schema });
  t.match(getText(0, 'system'), JSON.stringify(SCHEMA));
  t.equal(run.request?.system, getText(0, 'system'));
});

t.test('A task without a schema sends none and has no output', async (t) => {
  const { run } = await runWith(t, ['Hello.'], { outputSchema: null });
  t.match(run, { status: 'completed', result: 'Hello.', output: null });
  t.notOk('response_format' in (ai.requests[0]?.body ?? {}));
});

t.test('A wrong answer is repaired by one more call, and the tokens of both are booked once', async (t) => {
  for (const [answer, problem] of [
    ['{"price": "12.50"}', 'price must be a number.'],
    ['{"items": []}', 'price is required.'],
    ['{"price": 1, "extra": true}', 'extra is not allowed.'],
    ['{"price": 1, "items": ["a", 2]}', 'items[1] must be a string.'],
    ['The price is 12.50.', 'The answer is not JSON.'],
    ['[{"price": 1}]', 'The object must be an object.'],
    ['{"price": 1} or {"price": 2}', 'The answer has more than one JSON object.'],
  ] as const) {
    ai.requests.length = 0;
    const usage = { promptTokens: 100, completionTokens: 10, cost: 0.001 };
    const { run } = await runWith(t, [
      { text: answer, usage },
      { text: GOOD, usage: { promptTokens: 200, completionTokens: 20, cost: 0.003 } },
    ]);
    t.match(run, { status: 'completed', result: GOOD, inputTokens: 300, outputTokens: 30, costUsd: 0.004 }, answer);
    t.equal(ai.requests.length, 2);
    const repair = getText(1, 'user');
    t.ok(repair.includes(`- ${problem}\n`), repair);
    const [, marker = ''] = /\nBEGIN ([0-9a-f]{24})\n/.exec(repair) ?? [];
    t.ok(marker && repair.includes(`\nBEGIN ${marker}\n${answer}\nEND ${marker}\n`), 'the earlier answer is fenced');
    t.match(ai.requests[1]?.body.response_format, { type: 'json_schema' });
    const records = await ctx.db.select().from(usageRecords).where(eq(usageRecords.executionId, run.id));
    t.match(records, [{ inputTokens: 300, outputTokens: 30, costUsd: 0.004 }]);
  }
});

t.test('A run with a schema reserves the tokens of both calls', async (t) => {
  const reserved: number[] = [];
  ai.answer(async () => {
    const running = await ctx.db.select().from(executions).where(eq(executions.status, 'running'));
    reserved.push(...running.map(({ tokensReserved }) => tokensReserved));
    return { text: GOOD };
  });
  await insertTask(ctx, alice().id, { outputSchema: SCHEMA, maxTokens: 300 });
  await runDue(t);
  await insertTask(ctx, alice().id, { maxTokens: 300 });
  await runDue(t);
  t.strictSame(reserved, [600, 300]);
});

t.test('A run whose repair is wrong as well fails, names the problems and is not retried', async (t) => {
  const { task, run } = await runWith(t, ['{"price": "1"}', '{"price": "2", "more": 1}']);
  t.match(run, { status: 'failed', errorCode: 'INVALID_OUTPUT', result: null, output: null });
  t.equal(run.error, 'The answer does not match the output schema. price must be a number. more is not allowed.');
  t.ok((run.inputTokens ?? 0) > 0 && ai.requests.length === 2);
  t.equal((await readRuns(ctx, task)).length, 1);
  t.equal((await readTaskRow(ctx, task)).consecutiveFailures, 1);
});

t.test('An answer that the token limit cut is not repaired', async (t) => {
  const { run } = await runWith(t, [{ text: '{"price": 12, "items": ["a', finishReason: 'length' }], { maxTokens: 7 });
  t.match(run, { status: 'failed', errorCode: 'INVALID_OUTPUT' });
  t.match(run.error, /cut at 7 tokens: raise maxTokens/);
  t.equal(ai.requests.length, 1);
});

t.test('An answer that was cut after its JSON succeeds', async (t) => {
  const { run } = await runWith(t, [{ text: `${GOOD} This price`, finishReason: 'length' }]);
  t.match(run, { status: 'completed', result: GOOD });
});

t.test('An answer without text fails as it does without a schema', async (t) => {
  const { run } = await runWith(t, [{ text: '' }]);
  t.match(run, { status: 'failed', errorCode: 'PROVIDER_UNAVAILABLE' });
  t.equal(ai.requests.length, 1);
});

t.test(
  'A repair that the provider fails is a failure of the provider, with the tokens of the first call',
  async (t) => {
    const usage = { promptTokens: 100, completionTokens: 10 };
    const { task, run } = await runWith(t, [{ text: 'No.', usage }, { status: 503 }]);
    t.match(run, { status: 'failed', errorCode: 'PROVIDER_UNAVAILABLE', inputTokens: 100, outputTokens: 10 });
    t.equal((await readRuns(ctx, task)).length, 2, 'it is retried');
  },
);

t.test('Both calls share the time limit of the run', async (t) => {
  const { run } = await runWith(t, [{ text: 'No.', delayMs: 300 }, { hang: 'head' }], { timeoutMs: 1000 });
  t.match(run, { status: 'failed', errorCode: 'TIMEOUT', error: /did not answer within 0\.\d+ s/ });
});

t.test(
  'A provider that knows no schemas is asked for any object, then by instructions alone, and remembered',
  async (t) => {
    const asked: unknown[] = [];
    const settings = { aiModel: 'plain/model' };
    const task = await insertTask(ctx, alice().id, { outputSchema: SCHEMA, ...settings });
    const other = await insertTask(ctx, alice().id, { outputSchema: SCHEMA, ...settings });
    ai.answer(({ body }) => {
      const type = (body.response_format as { type?: string } | undefined)?.type;
      asked.push(type ?? 'none');
      const message = `Invalid parameter: 'response_format' of type '${type}' is not supported with this model.`;
      return type ? { status: 400, body: { error: { message, type: 'invalid_request_error' } } } : { text: GOOD };
    });
    await runDue(t);
    t.match(await readRun(ctx, task), { status: 'completed', result: GOOD });
    t.match(await readRun(ctx, other), { status: 'completed', result: GOOD });
    t.strictSame(new Set(asked), new Set(['json_schema', 'json_object', 'none']));
    asked.length = 0;
    await insertTask(ctx, alice().id, { outputSchema: SCHEMA, ...settings });
    await runDue(t);
    t.strictSame(asked, ['none']);
  },
);

t.test('A run that is aborted during its first call is not repaired', async (t) => {
  const stop = new AbortController();
  ai.answer(() => {
    stop.abort();
    return { text: 'No.' };
  });
  const request = { model: 'm', prompt: 'What?', maxTokens: 9, temperature: 0, timeoutMs: 5000, signal: stop.signal };
  t.match(await askForOutput(ctx.ai, request, SCHEMA), { ok: false, errorCode: 'INTERRUPTED' });
  t.equal(ai.requests.length, 1);
});

t.test('A run that is aborted between its calls asks no second time', async (t) => {
  const stop = new AbortController();
  ai.answer(() => ({ text: 'No.', usage: { promptTokens: 70, completionTokens: 7 } }));
  const stopAfter = { ask: async (request: AiRequest) => ctx.ai.ask(request).finally(() => stop.abort()) };
  const request = { model: 'm', prompt: 'What?', maxTokens: 9, temperature: 0, timeoutMs: 5000, signal: stop.signal };
  const outcome = await askForOutput(stopAfter, request, SCHEMA);
  t.match(outcome, { ok: false, errorCode: 'INTERRUPTED', usage: { inputTokens: 70, outputTokens: 7 } });
  t.equal(ai.requests.length, 1);
});

t.test('A prompt is tried with a schema that no task has yet', async (t) => {
  const given = { prompt: 'What does it cost?', aiModel: 'maker/model', outputSchema: SCHEMA };
  ai.answer(() => ({ text: `Here: ${GOOD}` }));
  t.match(await tryPrompt(ctx, alice(), given), { answer: GOOD, output: { price: 12.5 }, problems: [] });
  ai.answer(() => ({ text: '{"price": null}', usage: { promptTokens: 50, completionTokens: 5 } }));
  const wrong = await tryPrompt(ctx, alice(), given);
  t.match(wrong, { answer: '{"price": null}', output: null, problems: ['price must be a number.'] });
  t.match(wrong, { inputTokens: 100, outputTokens: 10 }, 'the repair counts as well');
  const bad = { ...given, outputSchema: { type: 'object', properties: { a: { minimum: 'x' } } } };
  const refused = await tryPrompt(ctx, alice(), bad).catch((error) => error.details);
  t.strictSame(refused, { 'outputSchema.properties.a.minimum': ['must be a number'] });
});
